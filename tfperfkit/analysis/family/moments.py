"""When a child's own lines were at work, by its stack samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tfperfkit.clock import NS_PER_S
from tfperfkit.model import LineTime, SourceSpan
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.records.spans import Span, Spans

Line = tuple[str, int, str]  # file, line, function
#: Modules of Python's library in which a process waits for another one, or for work.
_WAITS = (
    "multiprocessing.",
    "concurrent.futures.",
    "queue",
    "threading",
    "selectors",
    "socket",
    "subprocess",
    "asyncio.",
)
#: A sample stands for no longer than this: the process was stopped, or had no processor.
_LONGEST_NS = NS_PER_S
_MAX = 3


class Work(NamedTuple):
    """The user's innermost line and outermost function from ``begin`` to ``end`` (ns)."""

    begin: int
    end: int
    line: Line
    function: str


def work(log: SampleLog, began_ns: int) -> list[Work]:
    """Return the stretches that were spent below lines of the user's; those in which such a line waits for another
    process are left out. A sample stands for the time since the one before it."""
    found = []
    before = began_ns
    for when, stack in log.inside(log.whole):
        begin = max(before, when - _LONGEST_NS)
        before = when
        if stack.frames and not waits(stack):
            leaf, outer = stack.frames[-1], next((f for f in stack.frames if f.name != "<module>"), stack.frames[0])
            found.append(Work(begin, when, (leaf.file, leaf.line, _named(stack)), outer.name))
    return found


def _named(stack: Stack) -> str:
    """Return the function that contains the innermost line; for a comprehension the surrounding function."""
    leaf = stack.frames[-1]
    around = (frame.name for frame in reversed(stack.frames) if frame.file == leaf.file and frame.name[:1] != "<")
    return leaf.name if leaf.name[:1] != "<" or leaf.name == "<module>" else next(around, leaf.name)


def waits(stack: Stack) -> bool:
    """Return whether the innermost line of the user's asks another process for something, or is asked."""
    return any(f"{call.partition(':')[0]}.".startswith(_WAITS) for call in stack.frames[-1].calls or ())


def top(lines: Iterable[tuple[Line, int]]) -> tuple[LineTime, ...]:
    """Return the lines that most time was spent in, three at most; (line, ns)."""
    sums: dict[Line, int] = {}
    for line, ns in lines:
        sums[line] = sums.get(line, 0) + ns
    largest = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:_MAX]
    return tuple(LineTime(SourceSpan(*line), ns / NS_PER_S) for line, ns in largest if ns > 0)


def inside(done: Iterable[Work], spans: Sequence[Span]) -> list[tuple[Line, int]]:
    """(line, ns) of the part of ``done`` that lies in ``spans``."""
    covered = Spans(spans)
    cut = ((each.line, covered.overlap(each.begin, each.end)) for each in done)
    return [(line, ns) for line, ns in cut if ns > 0]
