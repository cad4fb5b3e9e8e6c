"""Which of several parallel maps sets the pace: a trace times none of them as a stage, but what their functions do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfperfkit_probes.input.model import Stage

from tfperfkit.offers import MappedFunctions
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared

#: By file and line of a function: ms of the trace.
Taken = Mapping[tuple[str, int], float]


def mapped_ms(evidence: Evidence) -> dict[tuple[str, int], float]:
    """What the functions of the pipelines' maps took in the trace, on all threads; empty without one."""
    traced = evidence.offer(MappedFunctions)
    return {(each.file, each.line): each.ms for each in traced.functions} if traced is not None else {}


def busiest(maps: Sequence[Stage], taken: Taken) -> list[Stage]:
    """The one whose function took nearly all of the time that those of all took; none where one was not seen."""
    places = [item.mapped for item in maps if item.mapped is not None]
    times = [taken.get((place.file, place.line), 0.0) for place in places]
    if not maps or len(times) < len(maps) or not all(times):
        return []
    largest = max(times)
    return [maps[times.index(largest)]] if largest >= shared.NEARLY_ALWAYS.value * sum(times) else []
