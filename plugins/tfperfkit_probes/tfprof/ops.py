"""The second reading of a trace: every operation that ran in the traced steps, with its own time.

It also estimates the time of undisturbed kernels of eager operations. On a busy machine one wait for a CPU core adds
milliseconds to the mean of an operation on ten numbers. A loop runs the same operations repeatedly, so each is compared
with those of its type between the same neighbours, and the lower quartile of these counts for
all: the median would be one that waited if the thread waits most of the time.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from tfperfkit.xplane import Plane
from tfperfkit.xplane.intervals import NONE, Spans, inside, overlap, spans_of, union
from tfperfkit.xplane.names import DERIVED_LINES, Kind, Named, function_name, is_function, is_input
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit.xplane.tracks import Track, Tracks, read_tracks
from tfperfkit_probes.tfprof.host import DATA_THREADS, Host, read_host

#: How an operation ran: one by one, in a graph, as an XLA kernel, on an accelerator, or for the input pipeline.
Place = Literal["eager", "graph", "xla", "device", "input"]


#: Types of operations in a graph that exchange tensors with other replicas; an event lasts until the last has come.
EXCHANGES = ("CollectiveReduce", "CollectiveGather", "CollectiveAllToAll", "Nccl", "Horovod")


class OpKey(NamedTuple):
    """Operations that are counted together. Eager operations have no name of their own: they go by their type."""

    name: str
    type: str
    place: Place


class OpTime:
    """How often an operation ran and its own time (ps), that of operations within it left out. ``kernel_ps``: of eager
    ones, what their kernels take undisturbed; None where the trace does not tell."""

    __slots__ = ("count", "kernel_ps", "self_ps")

    def __init__(self) -> None:
        self.count = 0
        self.self_ps = 0
        self.kernel_ps: float | None = None


class _Open:
    """An event on the stack: an operation, or a context that tells who runs what is in it.

    ``key``, ``op``: of an operation that counts; what begins outside of the window does not. ``of_data``: whether
    tf.data runs what is within. ``operation``: the innermost that counts, itself or around it.
    """

    __slots__ = ("begin", "end", "inner", "key", "named", "of_data", "op", "operation")

    def __init__(self, begin: int, end: int, named: Named, key: OpKey | None, of_data: bool) -> None:
        self.begin = begin
        self.end = end
        self.named = named
        self.key = key
        self.of_data = of_data
        self.inner = 0
        self.op: OpTime | None = None
        self.operation: _Open | None = None


_SECOND = frozenset({Kind.EAGER, Kind.OP, Kind.ASYNC, Kind.EXECUTOR, Kind.GET_NEXT, Kind.ITERATOR, Kind.MAYBE_THUNK})
_SECOND |= {Kind.KERNEL}
_CONTEXTS = frozenset({Kind.ITERATOR, Kind.EXECUTOR})
#: Lines of the host plane that hold the driver's calls; the kernels themselves stand on the device's lines.
DRIVER_LINES = "Host Threads"


class OpReader:
    """Adds up the operations of the lines it is given.

    ``window``: operations that begin outside of it are left out. ``waits``: spans of fetches; the operations of the
    script's own functions that overlap them are kept in ``busy``.
    """

    def __init__(self, host: Host, window: Iterable[Span]) -> None:
        self.ops: dict[OpKey, OpTime] = {}
        self.exchanges: list[tuple[Span, str]] = []  # with other replicas, and the operation's name
        self.handed: list[tuple[Span, str]] = []  # the same, as they were handed over to whoever waits
        # What computes, in a graph, and what runs for the script: numbers, not objects, for there may be millions.
        self._computing = (array("q"), array("q"))
        self._busy: list[Spans] = []
        self._host = host
        self._window = union([spans_of(window)])
        self._fetches = union([spans_of(host.fetches)])
        self._thunks = False
        self._kernels: list[list[Kernel]] = []
        self._keys: dict[tuple[int, bool], OpKey] = {}

    @property
    def computing(self) -> Spans:
        """Return the stretches in which an operation of a graph computed, without operations inside it, and without
        exchanges.
        """
        return union([_spans(*self._computing)])

    @property
    def busy(self) -> Spans:
        """Return the stretches in which an operation of the script's own functions ran next to a fetch."""
        return union(self._busy)

    def read(self, plane: Plane) -> None:
        """Read the plane ``/host:CPU``."""
        self._thunks = "hlo_op" in plane.stat_ids
        tracks = read_tracks(plane)
        self._keys.clear()
        for track in tracks.lines():
            if not track.name.startswith(DRIVER_LINES):
                self._kernels.append([])
                self._read_line(tracks, track)
        for kind, ps in undisturbed(self._kernels).items():
            op = self.ops.get(OpKey(kind, kind, "eager"))
            if op is not None:
                op.kernel_ps = ps

    def _read_line(self, tracks: Tracks, track: Track) -> None:
        which = track.where(tracks.flag_kinds(_SECOND))
        told: dict[Kind, Iterator[Any]] = {
            Kind.EXECUTOR: iter(track.numbers("id", track.where(tracks.flag_kinds({Kind.EXECUTOR})))),
            Kind.ASYNC: track.texts(("name", "kernel_type"), track.where(tracks.flag_kinds({Kind.ASYNC}))),
            Kind.MAYBE_THUNK: track.texts(("hlo_op",), track.where(tracks.flag_kinds({Kind.MAYBE_THUNK}))),
        }
        on_data_thread = track.name.startswith(DATA_THREADS)
        counts = inside(self._window, track.begin_ps[which]).tolist()
        beside = (array("q"), array("q"))  # operations that may have run next to a fetch
        stack: list[_Open] = []
        own_until = 0
        for (begin, end, code), counted in zip(track.events(which), counts, strict=True):
            named = tracks.named[code]
            assert named is not None
            kind = named.kind
            stat = next(told[kind]) if kind in told else None
            if begin < own_until:
                continue
            if self._host.is_own(named, stat):
                own_until = end
                continue
            while stack and begin >= stack[-1].end:
                self._close(stack.pop())
            if kind is Kind.KERNEL:
                self._kernel(end - begin, stack)
                continue
            around = stack[-1] if stack else None
            of_data = around.of_data if around is not None else on_data_thread
            if kind in _CONTEXTS:
                known = kind is Kind.ITERATOR or self._host.is_of_data(stat)
                opened = _Open(begin, end, named, None, of_data if known is None else known)
            elif kind is Kind.EAGER and is_function(named.type):
                opened = _Open(begin, end, named, None, of_data)
            else:
                key = self._key(code, named, stat, around.operation if around is not None else None, of_data)
                if key is None:
                    continue
                opened = _Open(begin, end, named, key, of_data)
                if kind is not Kind.GET_NEXT and not of_data:
                    beside[0].append(begin)
                    beside[1].append(end)
            self._count(opened, around, counted)
            stack.append(opened)
        while stack:
            self._close(stack.pop())
        if len(self._fetches):
            ran = _spans(*beside)
            touched = overlap(self._fetches, ran.begin, ran.end)
            self._busy.append(union([Spans(ran.begin[touched], ran.end[touched])]))

    def _key(self, code: int, named: Named, stat: Any, operation: _Open | None, of_data: bool) -> OpKey | None:
        """Return the key of an event; None if it belongs to one on the stack already, or says too little."""
        kind = named.kind
        if kind is Kind.ASYNC:
            name, op_type = stat
            # The whole of a fetch or of a loop over a dataset has an event of its own.
            if name is None or op_type is None or is_input(op_type) or op_type == "ReduceDataset":
                return None
            return OpKey(name, op_type, "input" if of_data else "graph")
        if kind is Kind.MAYBE_THUNK:
            (name,) = stat
            return OpKey(name, "XLA", "input" if of_data else "xla") if name is not None else None
        if operation is not None and operation.named.kind is Kind.EAGER:
            if kind is Kind.GET_NEXT:
                return None
            if kind is Kind.OP and operation.named.type == named.type and not is_function(named.type):
                return None  # the kernel of the eager operation around it
        key = self._keys.get((code, of_data))
        if key is None:
            key = self._keys[code, of_data] = self._named_key(named, of_data)
        return key if key.type else None

    def _named_key(self, named: Named, of_data: bool) -> OpKey:
        """The same where the event's name says it all; without a type where it is none."""
        if named.kind is Kind.EAGER:
            return OpKey(named.type, named.type, "input" if of_data or is_input(named.type) else "eager")
        if named.kind is Kind.GET_NEXT:
            return OpKey(named.type, named.type, "input")
        if is_function(named.type):  # how an eager call of a jit-compiled function reads
            # TensorFlow 2.16 tells no kernels of XLA on a CPU: the function is one piece.
            return OpKey(function_name(named.type), "" if self._thunks else "XLA function", "xla")
        return OpKey(named.name, named.type, "input" if of_data else "graph")

    def _count(self, opened: _Open, around: _Open | None, counted: bool) -> None:
        """Count an operation, where it ``counted`` by its begin; set the innermost operation."""
        outer = opened.operation = around.operation if around is not None else None
        key = opened.key
        if key is None:
            return
        if outer is not None:
            outer.inner += min(opened.end, outer.end) - opened.begin
        if not counted:
            return
        op = self.ops.get(key)
        if op is None:
            op = self.ops[key] = OpTime()
        op.count += 1
        op.self_ps += opened.end - opened.begin
        opened.op, opened.operation = op, opened
        if key.place == "graph" and key.type.startswith(EXCHANGES):
            spans = self.handed if opened.named.kind is Kind.ASYNC else self.exchanges
            spans.append((Span(opened.begin, opened.end), key.name))

    def _kernel(self, ps: int, stack: list[_Open]) -> None:
        """The kernel of the eager operation around it, if that is counted; what runs a graph is none."""
        around = stack[-1] if stack else None
        if around is not None and around.op is not None and around.named.kind is Kind.EAGER:
            assert around.key is not None
            if around.key.place == "eager":
                self._kernels[-1].append(Kernel(around.key.type, ps))

    def _close(self, opened: _Open) -> None:
        op, key = opened.op, opened.key
        if op is None or key is None:
            return
        op.self_ps -= opened.inner
        if key.place in ("graph", "xla") and not opened.inner and not key.type.startswith(EXCHANGES):
            self._computing[0].append(opened.begin)
            self._computing[1].append(opened.end)


def _spans(begin: array[int], end: array[int]) -> Spans:
    return Spans(np.frombuffer(begin, dtype=np.int64), np.frombuffer(end, dtype=np.int64)) if begin else NONE


def read_operations(plane: Plane, *window: Span) -> OpReader:
    """The operations of the plane ``/host:CPU``, for ``Plane.once``."""
    reader = OpReader(read_host(plane), window)
    reader.read(plane)
    return reader


def read_device(plane: Plane, window: Iterable[Span] | None, ops: dict[OpKey, OpTime]) -> list[Span]:
    """Add an accelerator's kernels to ``ops``; gives the spans in which it was busy. No window: all of them."""
    index = SpanIndex(window) if window is not None else None
    busy: list[Span] = []
    for line in plane.lines():
        if line.name in DERIVED_LINES:
            continue
        for event in line.events():
            if not event.duration_ps or (index is not None and event.begin_ps not in index):
                continue
            busy.append(Span(event.begin_ps, event.end_ps))
            stats = event.stats
            _, _, op_type = str(stats.get("tf_op", "")).rpartition(":")
            op = ops.setdefault(OpKey(event.name, op_type or "kernel", "device"), OpTime())
            op.count += event.occurrences
            op.self_ps += event.duration_ps
    return busy


#: How many operations before and after one identify its place in a loop.
_BEFORE, _BEHIND = 4, 2


class Kernel(NamedTuple):
    """An eager operation: its type, and the time from calling its kernel to its result, in ps."""

    type: str
    ps: int


def undisturbed(threads: Iterable[Sequence[Kernel]]) -> dict[str, float]:
    """Estimate the total time of undisturbed kernels by type, in ps, from each thread's operations in order."""
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for kernels in threads:
        types = [kernel.type for kernel in kernels]
        for index, kernel in enumerate(kernels):
            around = types[max(0, index - _BEFORE) : index + _BEHIND + 1]
            key = (kernel.type, *around)
            alike[key].append(kernel.ps)
    found: dict[str, float] = defaultdict(float)
    for place, each in alike.items():
        found[place[0]] += _lower(each) * len(each)
    return dict(found)


def _lower(each: list[int]) -> int:
    return sorted(each)[(len(each) - 1) // 4]
