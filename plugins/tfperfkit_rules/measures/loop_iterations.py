"""One iteration of the training loop, what runs between its steps included; and the calls of Keras that it makes."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.clock import ms
from tfperfkit.model import MIN_BETWEEN, Basis, SourceSpan
from tfperfkit.records.samples import MIN, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import FIT, is_calling
from tfperfkit_rules.measures.source_text import find_function, find_loops


class Stretch(NamedTuple):
    """The clean steps and what ran between them: samples, each with the time that it stands for (later ones are fewer),
    the sum of these times, and ms of one iteration of the loop."""

    found: list[tuple[Stack, int]]
    whole: int
    iteration_ms: float


_KNOWN: WeakKeyDictionary[Evidence, Stretch | None] = WeakKeyDictionary()


def stretch(evidence: Evidence) -> Stretch | None:
    """None where too few samples were taken. Several rules ask."""
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _stretch(evidence)
    return _KNOWN[evidence]


def _stretch(evidence: Evidence) -> Stretch | None:
    clean = evidence.steps.clean
    if not clean or evidence.account is None:
        return None
    spans = [(step.begin_ns, step.end_ns) for step in clean]
    spans += [
        (before.end_ns, after.begin_ns)
        for before, after in zip(clean, clean[1:], strict=False)
        if after.number == before.number + before.count and after.begin_ns > before.end_ns
    ]
    found = evidence.log.weighted(spans)
    iteration_ms = ms(sum(end - begin for begin, end in spans)) / sum(step.count for step in clean)
    if len(found) < MIN or iteration_ms <= 0:
        return None
    return Stretch(found, sum(weight for _, weight in found), iteration_ms)


def basis(evidence: Evidence, iteration_ms: float) -> Basis:
    """Return the basis of a share: the iteration, if it is much longer than the step inside it."""
    return "turn" if evidence.step_ms and iteration_ms > (1 + MIN_BETWEEN) * evidence.step_ms else "step"


def in_fit(evidence: Evidence, stack: Stack) -> bool:
    """Whether a call of ``fit`` was the innermost line of the user's own."""
    return bool(stack.frames) and is_calling(evidence, stack.frames[-1], FIT)


def where(evidence: Evidence, places: list[tuple[str, int]]) -> tuple[SourceSpan, ...]:
    """The lines, and the loop around the first."""
    spans = []
    for file, line in places:
        function = find_function(evidence, file, line)
        spans.append(SourceSpan(file, line, function.name if function else ""))
    around = find_loops(evidence, *places[0])
    if around:
        spans.append(SourceSpan(places[0][0], around[-1].line, spans[0].function))
    return tuple(dict.fromkeys(spans))
