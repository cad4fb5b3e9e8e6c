"""What a line of a work takes by the clock, where samples fall too late to tell.

Samples are taken when the sampler gets the interpreter's lock. A call of C code that keeps it for milliseconds gives it
up where it has ended: the sample falls on a later line, the first that gives the lock up by itself. line_profiler has
timed the lines of the hottest functions; C code, of which the trace function sees nothing, it hardly slows.
"""

from __future__ import annotations

from tfperfkit_probes.lines.model import LinesData

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.clock import ms
from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import frames_at
from tfperfkit_rules.measures.trace_window import window_in_work

MIN_TIMED_MS = Threshold(
    0.1,
    "ms",
    "minimum time of a line of C code for line_profiler's time to be used instead of samples",
    Derived("measuring a line costs a microsecond at most (docs/overhead.md: 0.1 us become 1): a hundredth of it"),
)


def timed_share(evidence: Evidence, place: Place) -> float | None:
    """The share (0 to 1) of a loop outside of training that a line took in the window; None where it was not timed,
    runs other code than C, or is over so soon that timing it counts."""
    data, probe = evidence.offer(LinesData), evidence.offered_by(LinesData)
    if data is None or data.method != "exact" or evidence.work is None or evidence.work.kind != "loop":
        return None
    rows = [
        row for each in data.python_functions if each.file == place[0] for row in each.lines if row.line == place[1]
    ]
    row = max(rows, key=lambda item: item.ms, default=None)  # a comprehension's is in that of the line around it
    if row is None or not row.hits or row.ms < MIN_TIMED_MS.value * row.hits or _calls(evidence, place):
        return None
    span = window_in_work(evidence, probe)
    return min(row.ms / ms(span[1] - span[0]), 1.0) if span is not None else None


def timed_by(evidence: Evidence) -> str:
    """The probe whose window this is."""
    return evidence.offered_by(LinesData)


def _calls(evidence: Evidence, place: Place) -> bool:
    """Whether the line was seen to call other Python, of the user's or of a library."""
    deeper = any(
        (frame.file, frame.line) == place and (stack.frames[-1].file, stack.frames[-1].line) != place
        for stack in evidence.samples.stacks
        for frame in stack.frames[:-1]
    )
    return deeper or any(frame.calls != () for frame in frames_at(evidence, place))
