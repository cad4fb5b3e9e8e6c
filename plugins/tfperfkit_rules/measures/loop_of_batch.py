"""The loop whose iterations could be one batch: the innermost that holds most of some samples and whose iterations
are independent."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.offers import LineCounts
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.independent_iterations import are_iterations_independent
from tfperfkit_rules.measures.source_text import Loop, find_frame_loops, find_function, find_loops
from tfperfkit_rules.measures.trace_window import reached

MIN_ITERATIONS = Threshold(
    8,
    "iterations",
    "minimum number of iterations: shorter loops go over layers or networks, which no batch replaces",
    Chosen("where vector instructions begin to gain: eight numbers of 32 bits in 256"),
)

ITERATIONS_IN_BATCH = Threshold(
    100,
    "iterations",
    "minimum number of iterations in one batch, if a loop has as many",
    Derived("the advice: some hundreds at a time if memory is short"),
)


class BatchLoop(NamedTuple):
    """``held``: the samples in it; ``iterations`` each time that it runs, at least, None where no line was counted;
    ``most``: at most. ``outer``: the outermost loop around it whose iterations are independent too, with the
    iterations of both."""

    file: str
    loop: Loop
    held: int
    iterations: float | None
    most: float | None = None
    outer: BatchLoop | None = None

    @property
    def batch(self) -> Bounds:
        """Iterations that become one: memory may ask for fewer than all."""
        least = self.iterations if self.iterations is not None else float(MIN_ITERATIONS.value)
        return Bounds(min(least, float(ITERATIONS_IN_BATCH.value)), max(self.most or least, least))

    def holds(self, frame: Frame) -> bool:
        return frame.file == self.file and self.loop.line <= frame.line <= self.loop.last

    def reads(self, evidence: Evidence) -> Counter[Place]:
        """The samples that read values of tensors in it, by their lines: of a batch one read does."""
        return self._samples(evidence, "host_sync")

    def fed(self, evidence: Evidence) -> bool:
        """Whether its iterations get their data from an input pipeline, so that each may be a batch already."""
        return bool(self._samples(evidence, "input"))

    def _samples(self, evidence: Evidence, activity: str) -> Counter[Place]:
        found: Counter[Place] = Counter()
        for stack, count in evidence.samples.stacks.items():
            if stack.activity == activity and any(map(self.holds, stack.frames)):
                found[stack.frames[-1].file, stack.frames[-1].line] += count
        return found


def loop_of_batch(evidence: Evidence, stacks: Counter[Stack]) -> BatchLoop | None:
    """None where iterations need each other, where they are few, or where no one loop holds most of the samples."""
    held: Counter[tuple[int, str, Loop]] = Counter()
    for stack, count in stacks.items():
        for depth, frame in enumerate(stack.frames):
            for inner, loop in enumerate(find_frame_loops(evidence, frame)):
                held[100 * depth + inner, frame.file, loop] += count
    limit = shared.LOOP_SHARE.value * stacks.total()
    found: BatchLoop | None = None
    rows = [item for item in held.items() if item[1] >= limit]
    outermost = min((depth for (depth, _, _), _ in rows), default=0)
    for (depth, file, loop), count in sorted(rows, key=lambda item: -item[0][0]):
        if loop.line == loop.last and not loop.over:
            continue
        apart = are_iterations_independent(evidence, file, loop)
        iterations, most = _count_iterations(evidence, file, loop, once=depth == outermost) if apart else (None, None)
        if found is not None:
            every = _both(found.outer or found, BatchLoop(file, loop, count, iterations, most))
            if every is None:
                break  # further out nothing is known of a batch
            found = found._replace(outer=every)
        elif apart and _many(iterations, most):
            found = BatchLoop(file, loop, count, iterations, most)
    return found


def _both(inner: BatchLoop, around: BatchLoop) -> BatchLoop | None:
    """The loop around with the iterations of both; None where those of one are not known."""
    if inner.iterations is None or inner.most is None or around.iterations is None or around.most is None:
        return None
    return around._replace(
        iterations=max(around.iterations, 1.0) * inner.iterations, most=max(around.most, 1.0) * inner.most
    )


def _many(iterations: float | None, most: float | None) -> bool:
    """Tell whether the loop has many iterations.

    If it did not end while lines were counted, half of its iterations were counted on average.
    """
    if iterations is None or most is None:
        return True
    return most >= MIN_ITERATIONS.value and 2 * iterations >= MIN_ITERATIONS.value


def _count_iterations(evidence: Evidence, file: str, loop: Loop, *, once: bool) -> tuple[float | None, float | None]:
    """Return the number of iterations, at least and at most: hits of the body's lines against hits around the loop, in
    the next outer loop or else the function. If no line around it ran while lines were counted, all hits belong to
    one unfinished pass; ``once``: no loop is around it, so that all iterations of the work belong to that pass.
    """
    work = evidence.work
    if once and work is not None and work.iterations and (work.where.file, work.where.line) == (file, loop.line):
        return float(work.iterations), float(work.iterations)  # a window has some of them, the work has all
    counts = evidence.offer(LineCounts)
    hits = {row.line: row.hits for row in counts.rows if row.file == file and row.hits} if counts is not None else {}
    body = [count for line, count in hits.items() if loop.line < line <= loop.last]
    if not body:
        return None, None
    outer = [
        other for other in find_loops(evidence, file, loop.line) if other.line < loop.line and other.last >= loop.last
    ]
    function = find_function(evidence, file, loop.line)
    first, last = (outer[-1].line, outer[-1].last) if outer else (function.line, function.last) if function else (0, 0)
    around = [count for line, count in hits.items() if first < line <= last and not loop.line <= line <= loop.last]
    iterations = min(body) / min(around, default=1)
    if around:
        return iterations, iterations
    most = max(iterations, reached(evidence, file, loop.line + 1, loop.last) or iterations)
    return most if once else iterations, most
