"""The processor time of each clean step, and its time without what the training thread waited for a processor.

Neither is disturbed by other programs as the clock is. The session notes both now and then, not at each step, so in
between they are taken to grow evenly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tfperfkit.clock import NS_PER_MS
from tfperfkit.records.steps import Step, StepTable

#: Shorter stretches have few notes, and what is between two of them is a guess.
_MIN_NOTES = 3
Note = tuple[int, int, int | None]


class StepTimes(msgspec.Struct, frozen=True):
    """Times of the clean steps in order, as far as notes were taken around them, in ms: wall-clock time, the processor
    time of all threads together, and wall-clock time less the time in which the training thread waited for a CPU core
    (None if the system does not report it).

    A step stands for all that were made in its call.
    """

    clock: tuple[float, ...] = ()
    processor: tuple[float, ...] = ()
    undisturbed: tuple[float, ...] | None = None


def step_times(rows: Iterable[object], table: StepTable) -> StepTimes:
    """``rows`` of the stream ``processor``: ``[ns, used ns, waited ns]``, cumulated. Empty where none were noted."""
    notes = [note for note in map(_note, rows) if note is not None]
    clock: list[float] = []
    processor: list[float] = []
    undisturbed: list[float] = []
    known = True
    for stretch in _stretches(table.steps):
        inside = [note for note in notes if stretch[0].begin_ns <= note[0] <= stretch[-1].end_ns]
        if len(inside) < _MIN_NOTES:
            continue
        steps = [step for step in stretch if inside[0][0] <= step.begin_ns and step.end_ns <= inside[-1][0]]
        own = [step.duration_ns / NS_PER_MS for step in steps]
        clock += own
        processor += _grown(steps, [(when, used) for when, used, _ in inside])
        waits = [(when, waited) for when, _, waited in inside if waited is not None]
        known = known and len(waits) == len(inside)
        if known:
            undisturbed += [ms - wait for ms, wait in zip(own, _grown(steps, waits), strict=True)]
    return StepTimes(tuple(clock), tuple(processor), tuple(undisturbed) if known and clock else None)


def used_ns(rows: Iterable[object], steps: Sequence[Step], pauses: Sequence[tuple[int, int]]) -> float | None:
    """Processor time of a step on average, with what passes between the steps but for ``pauses``, where notes were
    taken as each step began (in a trial). None if there were none."""
    notes = [(when, used) for when, used, _ in filter(None, map(_note, rows))]
    known = [step for step in steps if notes and step.end_ns <= notes[-1][0] + NS_PER_MS]
    if not known or notes[0][0] > known[0].begin_ns + NS_PER_MS:
        return None
    ours = [pause for pause in pauses if known[0].begin_ns <= pause[0] and pause[1] <= known[-1].end_ns]
    spans = [(known[0].begin_ns, known[-1].end_ns), *ours]
    whole, *paused = (after - before for before, after in _totals(notes, spans))
    return (whole - sum(paused)) / sum(step.count for step in known)


def _stretches(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Clean steps between which none of another kind ran."""
    for clean, group in itertools.groupby(steps, key=lambda step: step.window == "clean"):
        if clean:
            yield list(group)


def _grown(steps: Sequence[Step], notes: Sequence[tuple[int, int]]) -> list[float]:
    """By how much it grew from the begin of each step to its end, for one step, in ms."""
    totals = _totals(notes, [(step.begin_ns, step.end_ns) for step in steps])
    return [(after - before) / step.count / NS_PER_MS for step, (before, after) in zip(steps, totals, strict=True)]


def _totals(notes: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return the noted totals at the begin and at the end of each span; between two notes a total grows evenly."""
    import numpy

    when, total = numpy.array(notes, dtype=float).reshape(-1, 2).T
    found = numpy.interp(numpy.array(spans, dtype=float).reshape(-1, 2), when, total)
    return [(float(before), float(after)) for before, after in found]


def _note(row: object) -> Note | None:
    if not isinstance(row, list) or len(row) != 3 or not all(type(value) is int for value in row[:2]):
        return None
    return row[0], row[1], row[2] if type(row[2]) is int else None
