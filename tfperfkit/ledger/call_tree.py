"""Time by call site: which lines of the user's code, and which library calls there, took the time of a run or a step.

Every value belongs to one stack and one part, or to a part alone (imports, the interpreter's end) where no line of the
user's code ran. So the values add up to the measured total, and every share that is drawn from them fits the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tfperfkit.records.samples import Place, Stack


class Entry(NamedTuple):
    """Time of one stack in one part. ``value``: in the unit of the ledger."""

    stack: Stack
    part: str
    value: float


class CallSite(NamedTuple):
    """A line of the user's code and what it calls. ``api``: the library's function as "module:function", "" for the
    user's own Python. ``value``: inclusive time in the unit of the ledger. ``parts``: the same by part, the largest
    first. ``callers``: the user's lines on the way to it, outermost first, as (file, line, function)."""

    file: str
    line: int
    function: str
    api: str
    value: float
    parts: Mapping[str, float]
    callers: tuple[tuple[str, int, str], ...]

    @property
    def place(self) -> Place:
        """The file and the line."""
        return self.file, self.line


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

    def find_call_sites(self, lower: float, is_entry: Callable[[Place], bool] = lambda place: False) -> list[CallSite]:
        """Return the call sites that took ``lower`` or more, the costliest first; no moment counts for two of them.

        From the outermost line the way leads inwards. It ends at a line that holds its time itself, or below which the
        time divides into lines that are each too small. ``is_entry`` says that a line only starts the whole script:
        such a line is no call site.
        """
        found = self._descend(range(len(self.entries)), 0, lower, is_entry)
        return sorted((site for site, _ in found), key=lambda site: -site.value)

    def _descend(
        self, numbers: Iterable[int], depth: int, lower: float, is_entry: Callable[[Place], bool]
    ) -> list[tuple[CallSite, list[int]]]:
        groups: defaultdict[Place, list[int]] = defaultdict(list)
        for number in numbers:
            frames = self.entries[number].stack.frames
            if len(frames) > depth:
                groups[frames[depth].file, frames[depth].line].append(number)
        found: list[tuple[CallSite, list[int]]] = []
        for place, group in groups.items():
            if self.add_up(group) < lower:
                continue
            inside = self._descend(group, depth + 1, lower, is_entry)
            found += inside
            taken = {number for _, own in inside for number in own}
            rest = [number for number in group if number not in taken]
            if self.add_up(rest) >= lower and not is_entry(place):
                found.append((self._describe(rest, depth), rest))
        return found

    def _describe(self, numbers: list[int], depth: int) -> CallSite:
        first = max(numbers, key=lambda number: self.entries[number].value)
        frames = self.entries[first].stack.frames
        parts: Counter[str] = Counter()
        apis: Counter[str] = Counter()
        for number in numbers:
            entry = self.entries[number]
            parts[entry.part] += entry.value  # type: ignore[assignment]
            apis[_name_call(entry.stack, depth)] += entry.value  # type: ignore[assignment]
        return CallSite(
            *_name_frame(frames[depth]),
            api=apis.most_common(1)[0][0],
            value=self.add_up(numbers),
            parts=dict(parts.most_common()),
            callers=tuple(_name_frame(frame) for frame in frames[:depth]),
        )


def _name_frame(frame: tuple[object, ...]) -> tuple[str, int, str]:
    file, _, name, line = frame[:4]
    return str(file), int(str(line)), str(name)


def _name_call(stack: Stack, depth: int) -> str:
    """Return the outermost library function that a frame calls; "" if it is the user's own code."""
    calls = stack.frames[depth].calls
    return calls[0] if calls else ""
