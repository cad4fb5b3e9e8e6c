"""Cut the events of a thread into pieces, as arrays, and find out for whom each ran.

Events that tfperf itself caused are left out. Stretches of execution and stages of a pipeline are left out if nothing
else begins within them. A trace may hold a million such stretches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tfperfkit.records.pipelines import READING
from tfperfkit.xplane.intervals import Ints
from tfperfkit.xplane.names import Kind
from tfperfkit.xplane.nesting import Flags, nearest, pieces, without_empty
from tfperfkit.xplane.tracks import Track, Tracks
from tfperfkit_probes.tfprof.host import DATA_THREADS, Host

_CONTEXTS = frozenset({Kind.ITERATOR, Kind.EXECUTOR})
_BY_TFPERF, _BY_TFDATA, _BY_SCRIPT, _UNKNOWN = 2, 1, 0, -1


class Piece:
    """Events of a thread by begin, longer ones first; no event of another piece is around one of these.

    ``begin``, ``end``: in ps since the session began. ``code``: the place of the name in ``Tracks.names``.
    ``which``: the place of the event on its ``track``.
    """

    def __init__(self, track: Track, which: Ints, begin: Ints, end: Ints, asked_by: npt.NDArray[np.int8]) -> None:
        self.track = track
        self.which = which
        self.begin = begin
        self.end = end
        self.code = track.code[which]
        self._asked_by = asked_by

    def __len__(self) -> int:
        return len(self.which)

    def is_of_data(self, parent: Ints) -> Flags:
        """Return whether tf.data runs each event. ``parent``: the place of the event around each, -1 for none."""
        source = nearest(parent, self._asked_by != _UNKNOWN)
        on_data_thread = self.track.name.startswith(DATA_THREADS)
        return np.where(source >= 0, self._asked_by[source] == _BY_TFDATA, on_data_thread)

    def texts(self, stats: tuple[str, ...], places: Ints) -> Iterator[tuple[str | None, ...]]:
        """Return stats of the events at these places of the piece; None of what is no text."""
        return self.track.texts(stats, self.which[places])


class PieceReader:
    """Cuts the threads of a plane into pieces with the events of some ``kinds``."""

    def __init__(self, host: Host, tracks: Tracks, kinds: Collection[Kind]) -> None:
        self._wanted = tracks.flag_kinds(kinds)
        self._contexts = tracks.flag_kinds(_CONTEXTS)
        self._stages = tracks.flag_kinds({Kind.ITERATOR})
        self._executors = tracks.flag_kinds({Kind.EXECUTOR})
        self._readings = tracks.flag_named(lambda named: named.kind is Kind.EAGER and named.type == READING)
        self._host = host

    def read(self, track: Track) -> Iterator[Piece]:
        """Yield the pieces of a thread, in order of time; none is empty."""
        which = track.where(self._wanted)
        end = track.end_ps
        which = without_empty(track.begin_ps, end, which, self._contexts[track.code[which]])
        begin, end = track.begin_ps[which], end[which]
        for cut in pieces(begin, end):
            piece = self._piece(track, which[cut], begin[cut], end[cut])
            if len(piece):
                yield piece

    def _piece(self, track: Track, which: Ints, begin: Ints, end: Ints) -> Piece:
        asked_by = self._read_askers(track)[which]
        is_own = self._readings[track.code[which]] | (asked_by == _BY_TFPERF)
        if is_own.any():
            kept = _outside(begin, end, np.flatnonzero(is_own).tolist())
            which, begin, end, asked_by = which[kept], begin[kept], end[kept], asked_by[kept]
        return Piece(track, which, begin, end, asked_by)

    def _read_askers(self, track: Track) -> npt.NDArray[np.int8]:
        """Return who asked for the work within each event of a thread; found once for all readers of a plane."""
        asked_by = self._host.asked_by.get(track)
        if asked_by is None:
            asked_by = np.where(self._stages[track.code], np.int8(_BY_TFDATA), np.int8(_UNKNOWN))
            executors = track.where(self._executors)
            calls = track.integers("id", executors)
            for asker, known in (
                (_BY_SCRIPT, self._host.script_calls),
                (_BY_TFDATA, self._host.data_calls),
                (_BY_TFPERF, self._host.own_calls),
            ):
                asked_by[executors[np.isin(calls, np.array(sorted(known), dtype=np.int64))]] = asker
            self._host.asked_by[track] = asked_by
        return asked_by


def _outside(begin: Ints, end: Ints, places: Sequence[int]) -> Flags:
    """Flag the events that are neither at one of these places nor begin within one of these events."""
    kept = np.ones(len(begin), dtype=bool)
    for place in places:
        if kept[place]:
            kept[place : max(place + 1, int(np.searchsorted(begin, end[place])))] = False
    return kept
