"""The loop whose turns could be one batch: the innermost that holds most of some samples and whose turns don't need
each other."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.offers import LineCounts
from tfperfkit.records.samples import Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import eager as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.measures.source_text import Loop, enclosing, loops
from tfperfkit_rules.measures.turns_apart import turns_apart


class BatchLoop(NamedTuple):
    """``held``: the samples in it; ``turns`` each time that it runs, None where no line was counted."""

    file: str
    loop: Loop
    held: int
    turns: float | None

    def reads(self, evidence: Evidence) -> int:
        """The samples that read values of tensors in it: of a batch one read does."""
        return self._samples(evidence, "host_sync")

    def fed(self, evidence: Evidence) -> bool:
        """Whether its turns get their data from an input pipeline, so that each may be a batch already."""
        return self._samples(evidence, "input") > 0

    def _samples(self, evidence: Evidence, activity: str) -> int:
        first, last = self.loop.line, self.loop.last
        return sum(
            count
            for stack, count in evidence.samples.stacks.items()
            if stack.activity == activity
            and any(frame.file == self.file and first <= frame.line <= last for frame in stack.frames)
        )


def loop_of_batch(evidence: Evidence, stacks: Counter[Stack]) -> BatchLoop | None:
    """None where turns need each other, where they are few, or where no one loop holds most of the samples."""
    held: Counter[tuple[int, str, Loop]] = Counter()
    below: dict[tuple[str, Loop], Stack] = {}
    for stack, count in stacks.items():
        for depth, frame in enumerate(stack.frames):
            for inner, loop in enumerate(loops(evidence, frame.file, frame.line)):
                held[100 * depth + inner, frame.file, loop] += count
                below.setdefault((frame.file, loop), stack)
    limit = shared.LOOP_SHARE.value * stacks.total()
    for (_, file, loop), count in sorted(held.items(), key=lambda item: -item[0][0]):
        if count < limit or loop.line == loop.last and not loop.over:
            continue
        frames = below[file, loop].frames
        inside = [frame for frame in frames if not (frame.file == file and loop.line <= frame.line <= loop.last)]
        index = max((i for i, f in enumerate(frames) if f.file == file and loop.line <= f.line <= loop.last), default=0)
        if turns_apart(evidence, file, loop, [frame for frame in frames[index + 1 :] if frame in inside]):
            turns = _turns(evidence, file, loop)
            if turns is None or turns >= calibrated.MIN_TURNS.value:
                return BatchLoop(file, loop, count, turns)
    return None


def _turns(evidence: Evidence, file: str, loop: Loop) -> float | None:
    """Its body's lines against those around it: of the next loop outwards, else of the function. Where none of these
    ran while lines were counted, all that was counted is one time, not yet at its end."""
    counts = evidence.offer(LineCounts)
    hits = {row.line: row.hits for row in counts.rows if row.file == file and row.hits} if counts is not None else {}
    body = [count for line, count in hits.items() if loop.line < line <= loop.last]
    if not body:
        return None
    outer = [other for other in loops(evidence, file, loop.line) if other.line < loop.line and other.last >= loop.last]
    function = enclosing(evidence, file, loop.line)
    first, last = (outer[-1].line, outer[-1].last) if outer else (function.line, function.last) if function else (0, 0)
    around = [count for line, count in hits.items() if first < line <= last and not loop.line <= line <= loop.last]
    return min(body) / min(around, default=1)
