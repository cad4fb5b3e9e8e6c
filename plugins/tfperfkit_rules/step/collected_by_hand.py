"""STP005: the script collects garbage by hand, in the training loop or in another loop.

Each collection is timed. It counts as the script's if the first stack sample after it shows a line that calls
``gc.collect()`` or ``clear_session()``. Reported from 5 % of the time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.beside import SIDE_STEPS, beside
from tfperfkit_rules.measures.by_hand import collected_by_hand
from tfperfkit_rules.measures.step_shares import callers, span
from tfperfkit_rules.step.on_purpose import BY_WORD, kind_in
from tfperfkit_rules.step.uncollected import as_broken_down, shares, without_collections

TITLES = {"STP005": "gc.collect() is called in the loop"}
_CALLS = {"collect": "gc.collect()", "clear": "keras clear_session()"}


def collects(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for ``gc.collect()`` in its several forms."""
    unit = evidence.unit
    seen = {found.kind: found for found in beside(evidence, partial(kind_in, evidence, "collect"))}
    if not seen or (evidence.work is not None and evidence.work.kind == "call"):
        return
    kind = BY_WORD[max(seen, key=lambda word: seen[word].samples)]
    found = seen[kind.word]
    timed = collected_by_hand(evidence)
    sampled = sum(item.share for item in seen.values())
    # The samples in a collection come behind it, one for each, however long it took: its own time tells more.
    by_time = timed.times >= shared.MOSTLY.value * found.samples
    share = min(timed.share if by_time else sampled, shared.MAX_STEP_SHARE.value)
    if share < MEDIUM or not (found.often or timed.times >= SIDE_STEPS.value):
        return
    of_step = shares(share, 0 if by_time else len(found.iterations.found))
    if by_time:
        share, of_step = as_broken_down(share, of_step, evidence.share("gc"))
    lines = [place for place, _ in (timed.at + found.at if not by_time else timed.at).most_common(2) if place[1]]
    step_ms = evidence.step_ms or found.iterations.iteration_ms
    yield Finding(
        code="STP005",
        remedy=Every("collect"),
        title=f"{_CALLS[kind.word]} is called in the loop: {100 * share:.0f} % of {evidence.unit.a}",
        share_of_step=share,
        gain=without_collections(of_step, evidence.share("graph")),
        where=tuple(dict.fromkeys((*(span(evidence, *place) for place in lines), *callers(evidence, lines[0])))),
        evidence=(
            Measurement(
                f"share of {unit.the} in garbage collection", share, "share", "baseline" if by_time else "samples"
            ),
            Measurement(f"garbage collection {unit.per}", share * step_ms, "ms", "baseline" if by_time else "samples"),
            *([Measurement("garbage collections", float(timed.times), "count", "baseline")] * bool(timed.times)),
            Measurement("samples in garbage collection", float(found.samples), "count", "baseline"),
        ),
        advice=f"{kind.advice}.",
        detail="Each call scans all objects of the process, TensorFlow's too, and no other Python runs meanwhile.",
        absorbs_here=("LIN001", "SYN001", "STP008"),
        parts=("gc", "other"),
    )
