"""Whether fewer or larger NumPy calls would do the same work as a costly line of NumPy outside of training steps.

In a training step a NumPy line can be moved to ``tf.data``, where it runs while the model computes. In a loop or call
without training no model computes meanwhile, so only another way to call NumPy gains anything.
"""

from __future__ import annotations

from tfperfkit_probes.lines.model import LinesData

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.independent_iterations import are_iterations_independent
from tfperfkit_rules.measures.source_text import find_loops

LARGE_MS = Threshold(
    1.0,
    "ms",
    "minimum time of a NumPy line for it to work on large arrays, so that larger ones gain nothing",
    Derived("a NumPy call starts in 1 to 10 us, a line makes up to 10 calls: at most a tenth of 1 ms goes"),
)


def may_be_fewer_calls(evidence: Evidence, place: Place, share: float) -> bool:
    """Whether the source and the times prove that fewer or larger calls can replace those of a NumPy line.

    This holds if a comprehension on the line itself goes over elements in Python, or if a line of short calls is
    inside a loop of its function with independent iterations. ``share``: what the line takes of the work (0 to 1).
    """
    loops = find_loops(evidence, *place)
    if any(not loop.is_statement for loop in loops):
        return True
    took_ms = _time_one_call(evidence, place, share)
    if took_ms is not None and took_ms >= LARGE_MS.value:
        return False
    return any(are_iterations_independent(evidence, place[0], loop) for loop in loops)


def _time_one_call(evidence: Evidence, place: Place, share: float) -> float | None:
    """Return how long a line takes once (ms), by line_profiler; else by the iterations of the work, if the line is in
    no other loop; None if neither tells."""
    data = evidence.offer(LinesData)
    if data is not None and data.method == "exact":
        lines = [row for each in data.python_functions if each.file == place[0] for row in each.lines]
        timed = [row.ms / row.hits for row in lines if row.line == place[1] and row.hits]
        if timed:
            return max(timed)
    work = evidence.work
    if work is None or not work.iterations:
        return None
    around = [(place[0], loop.line) for loop in find_loops(evidence, *place)]
    if any(loop != (work.where.file, work.where.line) for loop in around):
        return None
    return 1e3 * work.seconds * share / work.iterations
