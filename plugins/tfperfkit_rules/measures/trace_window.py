"""A probe's window that was open while a work ran: what was counted in it tells of that work."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.tfprof.model import TfprofData

from tfperfkit.clock import ms
from tfperfkit.offers import LineCounts, OperationsAfterSteps, RanOperation, RanOperations
from tfperfkit.records.events import of_kind
from tfperfkit.records.spans import Span
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import Function, find_loops


class Traced(NamedTuple):
    """The operations of a trace that lay in the work. ``scale``: what to multiply them by for one
    iteration of the work, or for all of the work outside of windows. ``rest_ms``: of operations without a row."""

    rows: tuple[RanOperation, ...]
    scale: float
    by: str
    rest_ms: float = 0.0


def traced(evidence: Evidence) -> Traced | None:
    """Return the operations of the work's trace; None if the trace is of something else, or there is none."""
    after, by = evidence.offer(OperationsAfterSteps), evidence.offered_by(OperationsAfterSteps)
    if evidence.work is None or not evidence.step_ms:
        return None
    if after is not None and after.wall_ms > 0 and window_in_work(evidence, by) is not None:
        return Traced(after.rows, evidence.step_ms / after.wall_ms, by, after.rest_ms)
    data, name = evidence.offer(TfprofData), evidence.offered_by(TfprofData)
    if data is None or data.steps or data.wall_ms <= 0:
        return None
    ran = evidence.offer(RanOperations)
    if ran is None or window_in_work(evidence, name) is None:
        return None
    return Traced(ran.rows, evidence.step_ms / data.wall_ms, name, ran.rest_ms)


def waited_share(evidence: Evidence) -> float | None:
    """Return the share of a work's traced time in which the training thread waited for a batch.

    None if the trace is of something else, or there is none.
    """
    data, name = evidence.offer(TfprofData), evidence.offered_by(TfprofData)
    if evidence.work is None or data is None or data.steps or window_in_work(evidence, name) is None:
        return None
    whole = sum(data.window_ms.values())
    return data.window_ms.get("input", 0.0) / whole if whole > 0 else None


def reached(evidence: Evidence, file: str, first: int, last: int) -> float | None:
    """Return how often the seldomest of these lines ran in an iteration of the work, or in all of it.

    The head of a loop runs more often than the lines around the loop. None if no line was counted.
    """
    counts, name = evidence.offer(LineCounts), evidence.offered_by(LineCounts)
    span = window_in_work(evidence, name) if counts is not None else None
    if counts is None or span is None or not evidence.step_ms:
        return None
    hits = [row.hits for row in counts.rows if row.file == file and first <= row.line <= last and row.hits]
    return min(hits) * evidence.step_ms / ms(span[1] - span[0]) if hits else None


def entered(evidence: Evidence, file: str, function: Function) -> float | None:
    """Return how often a function was called in an iteration of the work, or in all of it, at most; see ``reached``.
    If only lines of loops inside the function ran in the window, the window lay within one call: less than one call."""
    counts, name = evidence.offer(LineCounts), evidence.offered_by(LineCounts)
    span = window_in_work(evidence, name) if counts is not None else None
    if counts is None or span is None or not evidence.step_ms:
        return None
    ran = {
        row.line: row.hits
        for row in counts.rows
        if row.file == file and function.line < row.line <= function.last and row.hits
    }
    within = [line for line in ran if any(loop.line > function.line for loop in find_loops(evidence, file, line))]
    hits = 1 if len(within) == len(ran) else min(ran.values())
    return hits * evidence.step_ms / ms(span[1] - span[0]) if ran else None


def window_in_work(evidence: Evidence, probe: str) -> Span | None:
    """The window of a probe, when this work was seen in most of it."""
    begin = None
    for event in of_kind(evidence.records("events"), "opened", "window_end"):
        if event.get("probe") != probe:
            continue
        if event["kind"] == "opened" and isinstance(event.get("ns"), int):
            begin = event["ns"]
        elif event["kind"] == "window_end" and begin is not None and isinstance(event.get("end_ns"), int):
            span = begin, event["end_ns"]
            seen = [when for when, _ in evidence.log.inside([span])]
            if seen and seen[-1] - seen[0] >= shared.MOSTLY.value * (span[1] - span[0]):
                return span
    return None
