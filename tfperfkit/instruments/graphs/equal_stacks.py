"""Stacks of graphs that a function builds again and again: those of an equal graph, read once.

A retraced function builds operations of the same names on the same lines. Reading their stacks is most of the cost of
recording a graph, so only some of them are read and compared with those of the graph that was read before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tfperfkit.instruments.graphs.stacks import Found

#: Number of stacks of a graph that are compared, evenly spread, and the last one.
_COMPARED = 16
#: A graph with fewer stacks is read as quickly as it is compared.
_MIN_STACKS = 3 * _COMPARED
#: At most so many graphs are remembered, with their operations together.
_MAX_GRAPHS, _MAX_OPERATIONS = 256, 200_000


class Compared(NamedTuple):
    """The part of a graph that tells whether its stacks are known: ``texts`` are the compared stacks' user frames."""

    key: int
    texts: tuple[str, ...]


class EqualStacks:
    """Remembers the stacks of graphs by their operations. It holds nothing of TensorFlow's."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[tuple[str, ...], Found]] = {}
        self._operations = 0

    def compare(
        self, names: Sequence[str], kinds: Sequence[str], same: Sequence[int], user_frames: Callable[[int], str]
    ) -> Compared | None:
        """Return what to look up; None if the graph has few stacks. ``same`` and ``user_frames``: see
        ``choose_stacks``."""
        read = [index for index, source in enumerate(same) if source == index]
        if len(read) < _MIN_STACKS:
            return None
        chosen = [*read[:: len(read) // _COMPARED], read[-1]]
        return Compared(hash((tuple(names), tuple(kinds), tuple(same))), tuple(map(user_frames, chosen)))

    def find(self, compared: Compared | None) -> Found | None:
        """Return the stacks of an equal graph."""
        texts, found = self._known.get(compared.key, ((), None)) if compared is not None else ((), None)
        return found if compared is not None and texts == compared.texts else None

    def keep(self, compared: Compared | None, found: Found) -> None:
        """Remember the stacks of a graph that was read; the oldest give way."""
        if compared is None or len(found[1]) > _MAX_OPERATIONS:
            return
        before = self._known.pop(compared.key, None)
        self._known[compared.key] = compared.texts, found
        self._operations += len(found[1]) - (len(before[1][1]) if before is not None else 0)
        while len(self._known) > _MAX_GRAPHS or self._operations > _MAX_OPERATIONS:
            _, (_, numbers) = self._known.pop(next(iter(self._known)))
            self._operations -= len(numbers)
