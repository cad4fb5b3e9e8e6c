"""From a trace to the calls of compiled functions on the training thread and the operations that ran meanwhile."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfperfkit.graph import optable
from tfperfkit.xplane import Plane
from tfperfkit.xplane.intervals import inside, spans_of, union
from tfperfkit.xplane.names import XLA_END, XLA_EXECUTE, Kind, Named, is_function
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit.xplane.tracks import Track, Tracks, read_tracks
from tfperfkit_probes.tfprof.host import DATA_THREADS, Host
from tfperfkit_probes.tfprof.ops import DRIVER_LINES

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
    """A call of a compiled function: its runtime's name and its span."""

    function: str
    begin: int
    end: int


@dataclass
class Activity:
    """The content of the trace, in ps since the session began. ``pipeline`` is tf.data's own, on its threads."""

    calls: list[Call] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    pipeline: list[Segment] = field(default_factory=list)


_WANTED = frozenset({Kind.EAGER, Kind.OP, Kind.ASYNC, Kind.EXECUTOR, Kind.GET_NEXT, Kind.ITERATOR, Kind.MAYBE_THUNK})
_WAITING = optable.names(trait="waits") | optable.names(kind=("iterator", "optional")) | {"ReduceDataset"}


#: The work of an XLA instruction, by module and name; None for one that runs others, 0 if it is not known.
Cost = Callable[[str, str], float | None]


def read_activity(plane: Plane, host: Host, window: list[Span], cost: Cost) -> Activity:
    """Read the plane ``/host:CPU``."""
    reader = _Reader(host, window, cost)
    tracks = read_tracks(plane)
    for track in tracks.lines():
        if not track.name.startswith(DRIVER_LINES):
            reader.read(tracks, track)
    reader.finish()
    return reader.activity


class _Open:
    __slots__ = ("begin", "counted", "end", "first", "key", "of_data", "thunk", "waits")

    def __init__(self, begin: int, end: int, key: Key | None, of_data: bool, waits: bool, counted: bool) -> None:
        self.begin = begin  # of the part that is not written yet
        self.end = end
        self.key = key
        self.of_data = of_data
        self.waits = waits
        self.first = True
        self.counted = counted  # whether that part begins within the window
        self.thunk: _Thunk | None = None


@dataclass
class _Thunk:
    """An XLA kernel: its span on the thread that started it, its work, and its stretches of time."""

    key: Key
    begin: int
    end: int
    cost: float
    spans: list[Span]


class _Reader:
    def __init__(self, host: Host, window: list[Span], cost: Cost) -> None:
        self.activity = Activity()
        self._host = host
        self._window = SpanIndex(window)
        self._spans = union([spans_of(window)])
        self._cost = cost
        self._keys: dict[int, Key] = {}
        #: Kernels whose end is noted elsewhere: what follows their begin on the thread is other work.
        self._started: dict[int, _Thunk] = {}
        self._ended: dict[int, int] = {}
        self._thunks: list[_Thunk] = []

    def read(self, tracks: Tracks, track: Track) -> None:
        ends = np.array([name.startswith(XLA_END) for name in tracks.names])
        executes = tracks.names.index(XLA_EXECUTE) if XLA_EXECUTE in tracks.names else -1
        wanted = tracks.flag_kinds(_WANTED) | ends
        wanted[executes] |= executes >= 0
        which = track.where(wanted)
        told: dict[Kind, Iterator[Any]] = {
            Kind.EXECUTOR: iter(track.numbers("id", track.where(tracks.flag_kinds({Kind.EXECUTOR})))),
            Kind.ASYNC: track.texts(("name", "kernel_type"), track.where(tracks.flag_kinds({Kind.ASYNC}))),
        }
        thunks = track.where(tracks.flag_kinds({Kind.MAYBE_THUNK}))
        instructions = track.texts(("hlo_op", "hlo_module"), thunks)
        told[Kind.MAYBE_THUNK] = zip(instructions, track.numbers("_p", thunks), strict=True)
        ended = iter(track.numbers("_c", track.where(ends)))
        on_data_thread = track.name.startswith(DATA_THREADS)
        counts = inside(self._spans, track.begin_ps[which]).tolist()
        stack: list[_Open] = []
        executed = Span(0, 0)  # the last stretch of XLA's work that is complete
        executing: list[Span] = []
        own_until = 0
        for (begin, end, code), counted in zip(track.events(which), counts, strict=True):
            while executing and begin >= executing[-1].end:
                executed = executing.pop()
            named = tracks.named[code]
            if code == executes:
                executing.append(Span(begin, end))
                continue
            if named is None:
                self._note_end(next(ended), begin, executed)
                continue
            stat = next(told[named.kind]) if named.kind in told else None
            if begin < own_until:
                continue
            if self._host.is_own(named, stat):
                own_until = end
                continue
            while stack and begin >= stack[-1].end:
                self._close(stack)
            of_data = stack[-1].of_data if stack else on_data_thread
            opened = self._open(begin, end, code, named, stat, of_data, counted)
            if opened is None:
                continue
            if stack and opened.key is not None:
                around = stack[-1]
                self._write(around, begin)
                around.begin = min(end, around.end)
                around.counted = around.begin in self._window
            stack.append(opened)
        while stack:
            self._close(stack)

    def _open(
        self, begin: int, end: int, code: int, named: Named, stat: Any, of_data: bool, counted: bool
    ) -> _Open | None:
        kind = named.kind
        if kind is Kind.OP:
            if is_function(named.type):
                return None  # how an eager call of a jit-compiled function reads
            key = self._keys.get(code)
            if key is None:
                key = self._keys[code] = Key(named.name, named.type)
            return _Open(begin, end, key, of_data, key.type in _WAITING, counted)
        if kind is Kind.ITERATOR:
            return _Open(begin, end, None, True, False, counted)
        if kind is Kind.EXECUTOR:
            known = self._host.is_of_data(stat)
            return _Open(begin, end, None, of_data if known is None else known, False, counted)
        if kind is Kind.EAGER:
            if is_function(named.type) and counted and not of_data:
                self.activity.calls.append(Call(named.type, begin, end))
            return _Open(begin, end, None, of_data, False, counted)
        if kind is Kind.ASYNC:
            name, op_type = stat
            if name is None or op_type is None:
                return None
            return _Open(begin, end, Key(name, op_type), of_data, op_type in _WAITING, counted)
        if kind is Kind.GET_NEXT:
            return _Open(begin, end, Key(named.type, named.type), of_data, True, counted)
        (instruction, module), producer = stat
        if instruction is None or module is None:
            return None
        cost = self._cost(module, instruction)
        key = Key(instruction, "XLA", module)
        opened = _Open(begin, end, key, of_data, cost is None, counted)
        if cost is not None and not of_data:
            opened.thunk = _Thunk(key, opened.begin, opened.end, cost, [])
            self._thunks.append(opened.thunk)
            if producer is not None:
                self._started[producer] = opened.thunk
        return opened

    def _note_end(self, number: int | None, end: int, executed: Span) -> None:
        if number is not None:
            # Callbacks that wait for the kernel run before its end is noted, on the same thread.
            if executed.end <= end < executed.end + _CONTINUATION:
                end = executed.begin
            self._ended[number] = end

    def _close(self, stack: list[_Open]) -> None:
        closed = stack.pop()
        self._write(closed, closed.end)

    def _write(self, opened: _Open, until: int) -> None:
        if opened.key is not None and until > opened.begin and opened.counted:
            if opened.thunk is not None:
                opened.thunk.spans.append(Span(opened.begin, until))
                return
            target = self.activity.pipeline if opened.of_data else self.activity.segments
            target.append(Segment(opened.begin, until, opened.key, opened.waits, opened.first))
            opened.first = False

    def finish(self) -> None:
        """Add XLA's kernels. One may last on, on threads that note nothing, after what started it has returned."""
        for number, thunk in self._started.items():
            until = self._ended.get(number, thunk.end)
            if until > thunk.end and thunk.begin in self._window:
                thunk.spans.append(Span(thunk.end, until))
        for thunk in self._thunks:
            length = sum(span.end - span.begin for span in thunk.spans)
            for index, span in enumerate(thunk.spans):
                rate = thunk.cost / length if length else 0.0
                self.activity.segments.append(Segment(span.begin, span.end, thunk.key, False, index == 0, rate))
        self.activity.calls.sort(key=lambda call: (call.begin, -call.end))


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
