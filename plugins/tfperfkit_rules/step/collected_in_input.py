"""STP005: a PyDataset, a generator or a mapped function collects garbage while it prepares batches.

No sample falls into a collection. The function is found in the source, and reported if there are nearly as many
collections as steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfperfkit_probes.input.model import InputData

from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.by_hand import collected_by_hand
from tfperfkit_rules.measures.kinds import KINDS
from tfperfkit_rules.measures.source_text import find_function
from tfperfkit_rules.step.uncollected import shares, without_collections

_ADVICE = next(kind.advice for kind in KINDS if kind.word == "collect")


def collected_in_input(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, where nearly each step has a collection and one of these functions asks for it."""
    unit = evidence.unit
    share, clean = evidence.share("gc"), evidence.steps.clean
    if evidence.work is not None or share < MEDIUM or not clean or collected_by_hand(evidence).times:
        return
    asked = list(_find_collections(evidence))
    begins, ends = clean[0].begin_ns, clean[-1].end_ns
    times = sum(begins <= begin < ends for begin, _ in evidence.collections[:])
    steps = sum(step.count for step in clean)
    if not asked or times < shared.MOSTLY.value * steps:
        return
    share = min(share, shared.MAX_STEP_SHARE.value)
    yield Finding(
        code="STP005",
        remedy=Every("collect"),
        title=f"gc.collect() is called while batches are prepared: {100 * share:.0f} % of {unit.a}",
        share_of_step=share,
        gain=without_collections(shares(share, 0), evidence.share("graph")),
        where=tuple(asked[:3]),
        evidence=(
            Measurement(f"share of {unit.the} in garbage collection", share, "share", "breakdown"),
            Measurement(f"garbage collections {unit.per}", times / steps, "count", "baseline"),
        ),
        advice=f"{_ADVICE}.",
        detail="Each call scans all objects of the process, and no other thread's Python runs meanwhile.",
        absorbs=("INP005", "INP001"),
        parts=("gc",),
    )


def _find_collections(evidence: Evidence) -> Iterator[SourceSpan]:
    """Yield the lines that ask for a collection in a function that prepares batches, or in one that it calls by
    name."""
    prepare = set(_list_preparing(evidence))
    for row in evidence.calls("gc.collect"):
        function = find_function(evidence, row.file, row.line)
        if function is None:
            continue
        name = SourceSpan(row.file, row.line, function.name)
        if (row.file, function.line) in prepare or any(
            function.name in _list_called(evidence, file, line) for file, line in prepare
        ):
            yield name


def _list_preparing(evidence: Evidence) -> Iterator[tuple[str, int]]:
    """Yield where the functions begin that Keras or tf.data call for each batch or example."""
    data = evidence.offer(InputData)
    if data is None:
        return
    places = [row.place for row in data.keras if row.way == "fit"]
    places += [stage.mapped for row in data.pipelines if row.in_training for stage in row.stages]
    for place in places:
        if place is not None:
            function = find_function(evidence, place.file, place.line)
            yield place.file, function.line if function is not None else place.line


def _list_called(evidence: Evidence, file: str, line: int) -> set[str]:
    """List the names of what a function calls."""
    syntax, function = evidence.syntax(file), find_function(evidence, file, line)
    if syntax is None or function is None:
        return set()
    return {call.function.last_name for call in syntax.calls if call.line in function.lines}
