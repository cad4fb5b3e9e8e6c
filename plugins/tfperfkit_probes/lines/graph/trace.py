"""From a trace to the calls of compiled functions on the training thread and the operations that ran meanwhile."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfperfkit.graph import optable
from tfperfkit.xplane import Plane
from tfperfkit.xplane.intervals import Ints, inside, spans_of, union
from tfperfkit.xplane.names import XLA_END, XLA_EXECUTE, Kind, is_function
from tfperfkit.xplane.nesting import Flags, around
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit.xplane.tracks import Track, Tracks, read_tracks
from tfperfkit_probes.tfprof.host import Host
from tfperfkit_probes.tfprof.ops import DRIVER_LINES
from tfperfkit_probes.tfprof.pieces import Piece, PieceReader

#: How close the end of a kernel is noted after the work that its end set off, in ps.
_CONTINUATION = 50_000_000


class Key(NamedTuple):
    """The running code: an operation of a graph, or with ``module`` an instruction of an XLA module."""

    name: str
    type: str
    module: str = ""


class Segment(NamedTuple):
    """A stretch of time in which one thread worked on ``key`` and on nothing within it.

    ``waits``: it may only wait, for the input or for operations elsewhere; it counts where nothing else runs.
    """

    begin: int
    end: int
    key: Key
    waits: bool
    begins: bool = True  # whether this is where the operation began
    rate: float = 0.0  # what it gets done in a picosecond, as far as that is known; see ``account``


class Call(NamedTuple):
    """A call of a compiled function: its runtime's name and its span. A run of a session has the name of its event."""

    function: str
    begin: int
    end: int


@dataclass
class Activity:
    """The content of the trace, in ps since the session began. ``pipeline``: the busy time of tf.data's own operations
    on its threads, by name."""

    calls: list[Call] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    pipeline: dict[str, int] = field(default_factory=dict)


_WANTED = frozenset(
    {
        Kind.EAGER,
        Kind.SESSION,
        Kind.OP,
        Kind.ASYNC,
        Kind.EXECUTOR,
        Kind.GET_NEXT,
        Kind.ITERATOR,
        Kind.MAYBE_THUNK,
    }
)
_WAITING = optable.names(trait="waits") | optable.names(kind=("iterator", "optional")) | {"ReduceDataset"}


#: The work of an XLA instruction, by module and name; None for one that runs others, 0 if it is not known.
Cost = Callable[[str, str], float | None]


def read_activity(plane: Plane, host: Host, window: list[Span], cost: Cost) -> Activity:
    """Read the plane ``/host:CPU``."""
    tracks = read_tracks(plane)
    reader = _Reader(host, window, cost, tracks)
    for track in tracks.lines():
        if not track.name.startswith(DRIVER_LINES):
            reader.read(track)
    reader.finish()
    return reader.activity


@dataclass
class _Thunk:
    """An XLA kernel: its span on the thread that started it, its work, and its stretches of time."""

    key: Key
    begin: int
    end: int
    cost: float
    spans: list[Span]


class _Labels:
    """Numbers for keys, each with its key and with whether it ``waits``, see ``Segment``.

    ``of_code``: the number of each name, -1 if the name says no key. ``opens``: whether later events may be within an
    event of that name.
    """

    def __init__(self, tracks: Tracks) -> None:
        self.keys: list[Key] = []
        self.waits: list[bool] = []
        self._told: dict[Key, int] = {}
        self.opens = tracks.flag_kinds({Kind.EAGER, Kind.SESSION, Kind.EXECUTOR, Kind.ITERATOR})
        self.of_code = np.full(len(tracks.named), -1, dtype=np.int64)
        for code, named in enumerate(tracks.named):
            # The name of a function is how an eager call of a jit-compiled function reads.
            if named is not None and named.kind is Kind.OP and not is_function(named.type):
                self.of_code[code] = self.add(Key(named.name, named.type), named.type in _WAITING)
            elif named is not None and named.kind is Kind.GET_NEXT:
                self.of_code[code] = self.add(Key(named.type, named.type), True)
        self.opens |= self.of_code >= 0

    def add(self, key: Key, waits: bool) -> int:
        self.keys.append(key)
        self.waits.append(waits)
        return len(self.keys) - 1

    def told(self, key: Key, waits: bool) -> int:
        """Return the number of a key that the stats of events tell."""
        if key not in self._told:
            self._told[key] = self.add(key, waits)
        return self._told[key]


class _Parts(NamedTuple):
    """Stretches of events in which nothing within them ran, by their ends. ``owner``: the place of the event."""

    begin: Ints
    end: Ints
    owner: Ints
    begins: Flags  # whether it is the first one of its event

    def of(self, wanted: Flags) -> _Parts:
        return _Parts(self.begin[wanted], self.end[wanted], self.owner[wanted], self.begins[wanted])


class _Reader:
    def __init__(self, host: Host, window: list[Span], cost: Cost, tracks: Tracks) -> None:
        self.activity = Activity()
        self._window = union([spans_of(window)])
        self._index = SpanIndex(window)
        self._cost = cost
        self._tracks = tracks
        self._labels = _Labels(tracks)
        self._pieces = PieceReader(host, tracks, _WANTED)
        self._calls = tracks.flag_named(
            lambda named: named.kind is Kind.SESSION or (named.kind is Kind.EAGER and is_function(named.type))
        )
        self._asyncs, self._kernels = (tracks.flag_kinds({kind}) for kind in (Kind.ASYNC, Kind.MAYBE_THUNK))
        self._ends = np.array([name.startswith(XLA_END) for name in tracks.names])
        self._executes = np.array([name == XLA_EXECUTE for name in tracks.names])
        #: Kernels whose end is noted elsewhere: what follows their begin on the thread is other work.
        self._started: dict[int, _Thunk] = {}
        self._ended: dict[int, int] = {}
        self._thunks: list[_Thunk] = []

    def read(self, track: Track) -> None:
        """Read a thread."""
        self._read_ends(track)
        for piece in self._pieces.read(track):
            self._read_piece(piece)

    def _read_ends(self, track: Track) -> None:
        """Read where kernels of XLA end."""
        which = track.where(self._ends | self._executes)
        ended = iter(track.numbers("_c", track.where(self._ends)))
        executed = Span(0, 0)  # the last stretch of XLA's work that is complete
        executing: list[Span] = []
        for begin, end, code in track.events(which):
            while executing and begin >= executing[-1].end:
                executed = executing.pop()
            if self._executes[code]:
                executing.append(Span(begin, end))
                continue
            number = next(ended)
            if number is not None:
                # Callbacks that wait for the kernel run before its end is noted, on the same thread.
                is_callback = executed.end <= begin < executed.end + _CONTINUATION
                self._ended[number] = executed.begin if is_callback else begin

    def _read_piece(self, piece: Piece) -> None:
        label, opens = self._labels.of_code[piece.code], self._labels.opens[piece.code]
        asyncs = np.flatnonzero(self._asyncs[piece.code])
        if len(asyncs):
            label[asyncs] = [
                self._labels.told(Key(name, op_type), op_type in _WAITING)
                if name is not None and op_type is not None
                else -1
                for name, op_type in piece.texts(("name", "kernel_type"), asyncs)
            ]
        kernels = np.flatnonzero(self._kernels[piece.code])
        costs = self._costs(piece, kernels, label) if len(kernels) else []
        opens |= label >= 0
        parent = around(piece.begin, piece.end, opens)
        of_data = piece.is_of_data(parent)
        calls = self._calls[piece.code] & ~of_data & inside(self._window, piece.begin)
        for code, begin, end in _rows(piece.code[calls], piece.begin[calls], piece.end[calls]):
            named = self._tracks.named[code]
            assert named is not None
            self.activity.calls.append(Call(named.type, begin, end))
        parts = self._parts(piece, parent, label >= 0)
        thunks = np.full(len(piece), -1, dtype=np.int64)  # the place of each in the list
        for place, (cost, producer) in zip(kernels.tolist(), costs, strict=True):
            if label[place] >= 0 and cost is not None and not of_data[place]:
                thunks[place] = len(self._thunks)
                key = self._labels.keys[label[place]]
                thunk = _Thunk(key, int(piece.begin[place]), int(piece.end[place]), cost, [])
                self._thunks.append(thunk)
                if producer is not None:
                    self._started[producer] = thunk
        is_thunk = thunks[parts.owner] >= 0
        for begin, end, place in _rows(parts.begin[is_thunk], parts.end[is_thunk], thunks[parts.owner[is_thunk]]):
            self._thunks[place].spans.append(Span(begin, end))
        self._add_segments(parts.of(~is_thunk & ~of_data[parts.owner]), label)
        self._add_pipeline(parts.of(~is_thunk & of_data[parts.owner]), label)

    def _costs(self, piece: Piece, kernels: Ints, label: Ints) -> list[tuple[float | None, int | None]]:
        """Set the labels of XLA's kernels; return the work of each, see ``Cost``, and the number of its end."""
        costs: list[tuple[float | None, int | None]] = []
        producers = piece.track.numbers("_p", piece.which[kernels])
        texts = piece.texts(("hlo_op", "hlo_module"), kernels)
        for place, (instruction, module), producer in zip(kernels.tolist(), texts, producers, strict=True):
            cost: float | None = None
            if instruction is not None and module is not None:
                cost = self._cost(module, instruction)
                label[place] = self._labels.told(Key(instruction, "XLA", module), cost is None)
            costs.append((cost, producer))
        return costs

    def _parts(self, piece: Piece, parent: Ints, works: Flags) -> _Parts:
        """Cut the events that ``works`` flags where others of them begin right within them; only in the window."""
        owners = np.flatnonzero(works)
        cutting = np.flatnonzero(works & (parent >= 0) & works[parent])
        cutting = cutting[np.argsort(parent[cutting], kind="stable")]
        cut = parent[cutting]
        # A part ends where the next event within its owner begins, and another one begins where that event ends.
        resumed = np.minimum(piece.end[cutting], piece.end[cut])
        begin = piece.begin[cut]
        follows = np.flatnonzero(cut[1:] == cut[:-1]) + 1
        begin[follows] = resumed[follows - 1]
        last = piece.begin.copy()
        last[cut] = resumed  # of several the last stays
        begin = np.concatenate([last[owners][::-1], begin])
        end = np.concatenate([piece.end[owners][::-1], piece.begin[cutting]])
        owner = np.concatenate([owners[::-1], cut])
        counts = np.flatnonzero((end > begin) & inside(self._window, begin))
        order = counts[np.argsort(end[counts], kind="stable")]
        begins = np.zeros(len(order), dtype=bool)
        begins[np.unique(owner[order], return_index=True)[1]] = True
        return _Parts(begin[order], end[order], owner[order], begins)

    def _add_segments(self, parts: _Parts, label: Ints) -> None:
        keys, waits = self._labels.keys, self._labels.waits
        rows = zip(_rows(parts.begin, parts.end, label[parts.owner]), parts.begins.tolist(), strict=True)
        self.activity.segments += [
            Segment(begin, end, keys[number], waits[number], begins) for (begin, end, number), begins in rows
        ]

    def _add_pipeline(self, parts: _Parts, label: Ints) -> None:
        """Add up the time of the pipeline's operations by name, without waits and without XLA's kernels."""
        numbers, first, number = np.unique(label[parts.owner], return_index=True, return_inverse=True)
        sums = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(sums, number, parts.end - parts.begin)
        for index in np.argsort(first).tolist():
            key = self._labels.keys[numbers[index]]
            if not key.module and not self._labels.waits[numbers[index]]:
                busy = self.activity.pipeline.get(key.name, 0)
                self.activity.pipeline[key.name] = busy + int(sums[index])

    def finish(self) -> None:
        """Add XLA's kernels. One may last on, on threads that note nothing, after what started it has returned."""
        for number, thunk in self._started.items():
            until = self._ended.get(number, thunk.end)
            if until > thunk.end and thunk.begin in self._index:
                thunk.spans.append(Span(thunk.end, until))
        for thunk in self._thunks:
            length = sum(span.end - span.begin for span in thunk.spans)
            for index, span in enumerate(thunk.spans):
                rate = thunk.cost / length if length else 0.0
                self.activity.segments.append(Segment(span.begin, span.end, thunk.key, False, index == 0, rate))
        self.activity.calls.sort(key=lambda call: (call.begin, -call.end))


def _rows(*columns: npt.NDArray[np.integer[Any]]) -> Iterator[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


def outermost(calls: list[Call]) -> list[Call]:
    """The calls that are not part of another one."""
    found: list[Call] = []
    for call in calls:
        if not found or call.begin >= found[-1].end:
            found.append(call)
    return found


class CallIndex:
    """Finds the call that was under way at a moment."""

    def __init__(self, calls: list[Call]) -> None:
        self.calls = outermost(sorted(calls, key=lambda call: (call.begin, -call.end)))
        self._begins = [call.begin for call in self.calls]

    def at(self, moment: int) -> int | None:
        index = bisect_right(self._begins, moment) - 1
        return index if index >= 0 and moment < self.calls[index].end else None
