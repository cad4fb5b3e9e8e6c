"""Time by call site: which lines of the user's code, and which library calls there, took the time of a run or a step.

Every value belongs to one stack and one part, or to a part alone (imports, the interpreter's end) where no line of the
user's code ran. So the values add up to the measured total, and every share that is drawn from them fits the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.records.source_span import SourceSpan

#: A line that is on this share of all stacks starts the script, or the loop that repeats a step.
NEARLY_EVERY = 0.95


class Entry(NamedTuple):
    """Time of one stack in one part. ``value``: in the unit of the ledger."""

    stack: Stack
    part: str
    value: float


class CallSite(NamedTuple):
    """A line of the user's code and what it calls. ``frame``: the costliest of the line. ``value``: inclusive time in
    the unit of the ledger. ``parts``: the same by part, the largest first. ``callers``: the user's frames on the way to
    the line, outermost first. ``entries``: the numbers of the ledger's entries that ``value`` adds up."""

    frame: Frame
    value: float
    parts: Mapping[str, float]
    callers: tuple[Frame, ...]
    entries: frozenset[int]

    @property
    def place(self) -> Place:
        """Return the file and the line."""
        return self.frame.file, self.frame.line

    @property
    def where(self) -> SourceSpan:
        """Return the place with its function; "" for a module or a comprehension."""
        name = "" if self.frame.name.startswith("<") else self.frame.name
        return SourceSpan(self.frame.file, self.frame.line, name)


class Ledger:
    """Entries that add up to ``total``, with the parts that no stack is known for in ``unplaced``."""

    def __init__(self, entries: Iterable[Entry] = (), unplaced: Mapping[Any, float] | None = None) -> None:
        self.entries = tuple(entry for entry in entries if entry.value > 0)
        self.unplaced = {part: value for part, value in (unplaced or {}).items() if value > 0}
        self.total = sum(entry.value for entry in self.entries) + sum(self.unplaced.values())
        self._below: dict[Place, list[int]] | None = None

    def sum_parts(self) -> Counter[str]:
        """Return the time by part; the values add up to ``total``."""
        parts: Counter[str] = Counter()
        for entry in self.entries:
            parts[entry.part] += entry.value  # type: ignore[assignment]
        parts.update(self.unplaced)
        return parts

    def find_below(self, places: Iterable[Place]) -> frozenset[int]:
        """Return the numbers of the entries that have one of these lines on their stack."""
        if self._below is None:
            below: defaultdict[Place, list[int]] = defaultdict(list)
            for number, entry in enumerate(self.entries):
                for place in {(frame.file, frame.line) for frame in entry.stack.frames}:
                    below[place].append(number)
            self._below = dict(below)
        return frozenset(number for place in places for number in self._below.get(place, ()))

    def select(self, wanted: Callable[[Entry], bool]) -> frozenset[int]:
        """Return the numbers of the entries that fulfil a condition."""
        return frozenset(number for number, entry in enumerate(self.entries) if wanted(entry))

    def add_up(self, numbers: Iterable[int]) -> float:
        """Return the time of these entries."""
        return sum(self.entries[number].value for number in numbers)

    def inclusive(self, file: str, line: int) -> float:
        """Return the time in which a line was on the stack."""
        return self.add_up(self.find_below([(file, line)]))

    def without(self, numbers: frozenset[int]) -> Ledger:
        """Return the ledger without these entries."""
        return Ledger(entry for number, entry in enumerate(self.entries) if number not in numbers)

    def find_call_sites(self, lower: float) -> list[CallSite]:
        """Return the call sites that took ``lower`` or more, the costliest first; no moment counts for two of them.

        From the outermost line the way leads inwards. It ends at a line that takes its time itself, or below which the
        time divides into lines that are each too small. A line that is on nearly every stack, such as ``main()``, is no
        call site unless it takes its time itself.
        """
        placed = sum(entry.value for entry in self.entries if entry.stack.frames)
        found = self._descend(range(len(self.entries)), 0, lower, NEARLY_EVERY * placed)
        return sorted((site for site, _ in found), key=lambda site: -site.value)

    def _descend(
        self, numbers: Iterable[int], depth: int, lower: float, upper: float
    ) -> list[tuple[CallSite, list[int]]]:
        groups: defaultdict[Place, list[int]] = defaultdict(list)
        for number in numbers:
            frames = self.entries[number].stack.frames
            if len(frames) > depth:
                groups[frames[depth].file, frames[depth].line].append(number)
        found: list[tuple[CallSite, list[int]]] = []
        for group in groups.values():
            whole = self.add_up(group)
            if whole < lower:
                continue
            inside = self._descend(group, depth + 1, lower, upper)
            found += inside
            taken = {number for _, own in inside for number in own}
            rest = [number for number in group if number not in taken]
            own = [number for number in rest if len(self.entries[number].stack.frames) == depth + 1]
            if self.add_up(rest) >= lower and (whole < upper or self.add_up(own) >= lower):
                found.append((self._describe(rest, depth), rest))
        return found

    def _describe(self, numbers: list[int], depth: int) -> CallSite:
        frames = self.entries[max(numbers, key=lambda number: self.entries[number].value)].stack.frames
        parts: Counter[str] = Counter()
        for number in numbers:
            parts[self.entries[number].part] += self.entries[number].value  # type: ignore[assignment]
        return CallSite(
            frames[depth], self.add_up(numbers), dict(parts.most_common()), frames[:depth], frozenset(numbers)
        )
