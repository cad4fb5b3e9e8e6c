"""The host's threads as arrays of events in order of time, decoded once for all readers of a trace.

    tracks = read_tracks(plane)
    wanted = tracks.flag_kinds({Kind.EAGER, Kind.OP})
    for track in tracks.lines():
        for begin, end, code in track.events(track.where(wanted)):
            tracks.named[code]

Only events that ``names.parse`` knows, and where XLA's kernels end, are there. Times are in ps since the session began.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain

import numpy as np
import numpy.typing as npt

from tfperfkit.xplane import reader
from tfperfkit.xplane.columns import Coded, Ints, LineColumns, columns
from tfperfkit.xplane.names import XLA_END, XLA_EXECUTE, Kind, Named, parse
from tfperfkit.xplane.nesting import Flags
from tfperfkit.xplane.reader import Plane

#: Events that are there as Python's numbers at a time.
_BLOCK = 1 << 15
_KINDS = {kind: number for number, kind in enumerate(Kind)}


class Track:
    """A thread: its events by begin, longer ones first. ``code``: of each, the place of its name in
    ``Tracks.names``."""

    def __init__(self, line: LineColumns, code: npt.NDArray[np.int32]) -> None:
        self.name = line.name
        self.begin_ps = line.begin_ps
        self.code = code
        self._line = line

    @property
    def end_ps(self) -> Ints:
        return self._line.end_ps

    def where(self, wanted: Flags) -> Ints:
        """Return the places of the events whose codes are wanted, see ``Tracks.of``."""
        return np.flatnonzero(wanted[self.code])

    def events(self, which: Ints) -> Iterator[tuple[int, int, int]]:
        """Begin, end and code of each as Python's numbers, in which a loop is many times quicker."""
        return chain.from_iterable(self._block(which[first : first + _BLOCK]) for first in range(0, len(which), _BLOCK))

    def _block(self, which: Ints) -> Iterator[tuple[int, int, int]]:
        begin, code = self.begin_ps[which], self.code[which]
        return zip(begin.tolist(), (begin + self._line.duration_ps[which]).tolist(), code.tolist(), strict=True)

    def integers(self, stat: str, which: Ints) -> Ints:
        """Return an integer stat of each of these events; -1 of one that has none."""
        return self._line.numbers(stat, which)

    def numbers(self, stat: str, which: Ints) -> list[int | None]:
        """Return an integer stat of each of these events; None of one that has none."""
        return [number if number != -1 else None for number in self.integers(stat, which).tolist()]

    def texts(self, stats: tuple[str, ...], which: Ints) -> Iterator[tuple[str | None, ...]]:
        """Stats of each of these events; None of what is no text."""
        coded = self._line.coded(stats, which)
        columns = []
        for stat in stats:
            values = [value if isinstance(value, str) else None for value in coded[stat].values]
            values.append(None)  # -1 is the last
            columns.append([values[code] for code in coded[stat].codes.tolist()])
        return zip(*columns, strict=True)

    def coded(self, stats: tuple[str, ...], which: Ints) -> dict[str, Coded]:
        """Stats of any kind, see ``LineColumns.coded``."""
        return self._line.coded(stats, which)


class Tracks:
    """The threads of a plane, and the names that their events go by."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._ids = np.array(sorted(plane.event_metadata), dtype=np.int64)
        self.names = [plane.event_name(number) for number in self._ids.tolist()]
        self.names.append("")  # of an event whose name is not in the file
        self.named: list[Named | None] = [parse(name) for name in self.names]
        self._kind = np.array([_KINDS[named.kind] if named is not None else -1 for named in self.named], dtype=np.int8)
        self._kept: tuple[Track, ...] | None = None

    def flag_kinds(self, kinds: Collection[Kind]) -> Flags:
        """Flag the codes of events that are of one of these kinds."""
        return np.isin(self._kind, [_KINDS[kind] for kind in kinds])

    def flag_named(self, is_wanted: Callable[[Named], bool]) -> Flags:
        """Flag the codes of events of a known kind whose names are wanted."""
        return np.array([named is not None and is_wanted(named) for named in self.named], dtype=bool)

    def lines(self) -> Iterator[Track]:
        """One after the other. Raises ``Unavailable`` for a damaged file."""
        if self._kept is not None:
            return iter(self._kept)
        if self._plane.space.size > reader.KEPT_BYTES:
            return self._decoded()
        self._kept = tuple(self._decoded())
        return iter(self._kept)

    def _decoded(self) -> Iterator[Track]:
        has_thunks = "hlo_op" in self._plane.stat_ids
        kept = {
            name
            for name, named in zip(self.names, self.named, strict=True)
            if (named is not None and (has_thunks or named.kind is not Kind.MAYBE_THUNK))
            or name.startswith(XLA_END)
            or name == XLA_EXECUTE
        }
        for line in columns(self._plane, kept.__contains__):
            line.sort()
            code = np.searchsorted(self._ids, line.kind)
            if len(self._ids):
                unknown = self._ids[np.minimum(code, len(self._ids) - 1)] != line.kind
                code[unknown] = len(self._ids)
            yield Track(line, code.astype(np.int32))


def read_tracks(plane: Plane) -> Tracks:
    """Return the tracks of the plane ``names.HOST``; made once."""
    return plane.once(Tracks)
