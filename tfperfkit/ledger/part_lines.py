"""The lines of the user's code for which a part of the time ran."""

from __future__ import annotations

from collections import Counter

from tfperfkit.ledger.call_tree import Ledger
from tfperfkit.model import LineTime, SourceSpan

#: At most this many lines are reported.
MAX_LINES = 3
_Line = tuple[str, int, str]  # file, line, function


def find_innermost_lines(ledger: Ledger, part: str, most: int = MAX_LINES) -> list[tuple[SourceSpan, float]]:
    """Return the innermost lines of the user's code for which a part ran, with their time, the costliest first."""
    at: Counter[_Line] = Counter()
    for entry in ledger.entries:
        if entry.part == part and entry.stack.frames:
            leaf = entry.stack.frames[-1]
            at[leaf.file, leaf.line, "" if leaf.name.startswith("<") else leaf.name] += entry.value  # type: ignore[assignment]
    return [(SourceSpan(*line), value) for line, value in at.most_common(most)]


def find_part_lines(ledger: Ledger, part: str) -> list[SourceSpan]:
    """Return the places of ``find_innermost_lines``."""
    return [where for where, _ in find_innermost_lines(ledger, part)]


def name_part_lines(ledger: Ledger) -> dict[str, tuple[LineTime, ...]]:
    """Return at most three lines for each part of a run, with their inclusive time in the part (see ``RunAccount``).

    The innermost line with half of the part below it comes first, then those that were most often the innermost.
    """
    return {part: _name_lines(ledger, part) for part in ledger.sum_parts()}


def _name_lines(ledger: Ledger, part: str) -> tuple[LineTime, ...]:
    below: Counter[_Line] = Counter()
    innermost: Counter[_Line] = Counter()
    depths: dict[_Line, int] = {}
    for entry in ledger.entries:
        if entry.part != part or not entry.stack.frames:
            continue
        lines = [(frame.file, frame.line, frame.name) for frame in entry.stack.frames]
        innermost[lines[-1]] += entry.value  # type: ignore[assignment]
        for depth, line in enumerate(lines):
            depths[line] = max(depths.get(line, 0), depth)
        for line in dict.fromkeys(lines):
            below[line] += entry.value  # type: ignore[assignment]
    whole = sum(innermost.values())
    half = [line for line in below if 2 * below[line] >= whole]
    chosen = sorted(half, key=lambda line: (-depths[line], -below[line]))[:1]
    chosen += [line for line, _ in innermost.most_common(MAX_LINES) if line not in chosen]
    return tuple(LineTime(SourceSpan(*line), below[line]) for line in chosen[:MAX_LINES])
