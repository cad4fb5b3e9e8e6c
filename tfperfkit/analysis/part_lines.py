"""For which lines of the person's the parts of the run ran."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import LineTime, SourceSpan
from tfperfkit.records.parts import RunPart
from tfperfkit.records.samples import Stack

_Line = tuple[str, int, str]  # file, line, function
_MAX = 3


class PartLines:
    """Adds up stacks. To hash one takes long, so each is known by its ``id``: the log keeps them."""

    def __init__(self) -> None:
        self._ns: Counter[tuple[RunPart, int]] = Counter()
        self._stacks: dict[int, Stack] = {}

    def add(self, part: RunPart, stack: Stack, ns: int) -> None:
        self._ns[part, id(stack)] += ns
        self._stacks[id(stack)] = stack

    def lines(self) -> dict[RunPart, tuple[LineTime, ...]]:
        """Of each part three lines at most, see ``model.RunAccount``."""
        stacks: defaultdict[RunPart, dict[int, int]] = defaultdict(dict)
        for (part, stack), ns in self._ns.items():
            if ns > 0 and self._stacks[stack].frames:
                stacks[part][stack] = ns
        return {part: self._of(found) for part, found in stacks.items()}

    def _of(self, stacks: Mapping[int, int]) -> tuple[LineTime, ...]:
        below: Counter[_Line] = Counter()
        innermost: Counter[_Line] = Counter()
        depths: dict[_Line, int] = {}
        for stack, ns in stacks.items():
            frames = [(frame.file, frame.line, frame.name) for frame in self._stacks[stack].frames]
            innermost[frames[-1]] += ns
            for depth, line in enumerate(frames):
                depths[line] = max(depths.get(line, 0), depth)
            for line in dict.fromkeys(frames):
                below[line] += ns
        whole = sum(stacks.values())
        half = [line for line in below if 2 * below[line] >= whole]
        chosen = sorted(half, key=lambda line: (-depths[line], -below[line]))[:1]
        chosen += [line for line, _ in innermost.most_common(_MAX) if line not in chosen]
        return tuple(LineTime(SourceSpan(*line), below[line] / NS_PER_S) for line in chosen[:_MAX])
