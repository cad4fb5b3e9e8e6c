"""STP005: the script collects garbage by hand, on the way of the steps or in a work's loop."""

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
from tfperfkit_rules.step.on_purpose import BY_WORD, kind_in, reported
from tfperfkit_rules.step.uncollected import as_broken_down, shares, without_collections


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
    of_step = shares(share, 0 if by_time else len(found.turns.found))
    if by_time:
        share, of_step = as_broken_down(share, of_step, evidence.share("gc"))
    lines = [place for place, _ in (timed.at + found.at if not by_time else timed.at).most_common(2) if place[1]]
    step_ms = evidence.step_ms or found.turns.turn_ms
    yield Finding(
        code="STP005",
        family="step",
        remedy=Every("collect"),
        title=f"{100 * share:.0f} % of {evidence.unit.a} is {reported(evidence, found, kind)}",
        share_of_step=share,
        gain=without_collections(of_step, evidence.share("graph")),
        where=tuple(dict.fromkeys((*(span(evidence, *place) for place in lines), *callers(evidence, lines[0])))),
        evidence=(
            Measurement("share of the time", share, "share", "baseline" if by_time else "samples"),
            Measurement(f"time {unit.per}", share * step_ms, "ms", "baseline" if by_time else "samples"),
            *([Measurement("collections that were seen", float(timed.times), "count", "baseline")] * bool(timed.times)),
            Measurement("samples in it", float(found.samples), "count", "baseline"),
        ),
        advice=f"{kind.advice}.",
        detail="A collection holds the interpreter's lock: no other thread's Python runs meanwhile.",
        absorbs_here=("LIN001", "SYN001", "STP008"),
        parts=("gc", "other"),
    )
