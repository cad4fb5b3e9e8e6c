"""The second reading of a trace: every operation that ran in the traced steps, with its own time.

It also estimates the time of undisturbed kernels of eager operations. On a busy machine one wait for a CPU core adds
milliseconds to the mean of an operation on ten numbers. A loop runs the same operations repeatedly, so each is compared
with those of its type between the same neighbours, and the lower quartile of these counts for
all: the median would be one that waited if the thread waits most of the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from tfperfkit.xplane import Plane
from tfperfkit.xplane.intervals import Ints, Spans, inside, overlap, spans_of, union
from tfperfkit.xplane.names import DERIVED_LINES, Kind, Named, function_name, is_function, is_input
from tfperfkit.xplane.nesting import Flags, around, nearest
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit.xplane.tracks import Tracks, read_tracks
from tfperfkit_probes.tfprof.host import Host, read_host
from tfperfkit_probes.tfprof.pieces import Piece, PieceReader

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


_SECOND = frozenset({Kind.EAGER, Kind.OP, Kind.ASYNC, Kind.EXECUTOR, Kind.GET_NEXT, Kind.ITERATOR, Kind.MAYBE_THUNK})
_SECOND |= {Kind.KERNEL}
#: Stats of events whose names don't say which operation they are.
_TOLD = {Kind.ASYNC: ("name", "kernel_type"), Kind.MAYBE_THUNK: ("hlo_op",)}
#: Lines of the host plane that hold the driver's calls; the kernels themselves stand on the device's lines.
DRIVER_LINES = "Host Threads"
#: Operations of the same type within each other that are looked through for the eager operation that they are part of.
_MAX_DEPTH = 100


class _Labels:
    """Numbers for operations, and facts about the names of a plane's events.

    ``of_code`` is the number of each name's operation, -1 if the name says none. ``opens``: whether later events may be
    within an event of that name. ``type_of``: a number for the type in each name.
    """

    def __init__(self, tracks: Tracks, has_thunks: bool) -> None:
        self._keys: list[OpKey] = []
        self._told: dict[tuple[Any, ...], int] = {}
        count = len(tracks.named)
        self.of_code = np.full(count, -1, dtype=np.int64)
        self.opens = tracks.flag_kinds({Kind.ITERATOR, Kind.EXECUTOR})
        self.type_of = np.full(count, -1, dtype=np.int64)
        self.kernels = tracks.flag_kinds({Kind.KERNEL})
        self.fetches = tracks.flag_kinds({Kind.GET_NEXT})
        self.eager = tracks.flag_named(lambda named: named.kind is Kind.EAGER and not is_function(named.type))
        self.parts = tracks.flag_named(lambda named: named.kind is Kind.OP and not is_function(named.type))
        self.kinds = {kind: tracks.flag_kinds({kind}) for kind in _TOLD}
        types: dict[str, int] = {}
        for code, named in enumerate(tracks.named):
            if named is None or named.kind not in (Kind.EAGER, Kind.OP, Kind.GET_NEXT):
                continue
            self.type_of[code] = types.setdefault(named.type, len(types))
            if named.kind is Kind.EAGER and is_function(named.type):
                self.opens[code] = True
                continue
            keys = [_named_key(named, of_data, has_thunks) for of_data in (False, True)]
            if keys[0].type:
                self.opens[code] = True
                self.of_code[code] = self._add(*keys)

    def told(self, kind: Kind, texts: tuple[str | None, ...]) -> int:
        """Return the number of an operation that the stats of an event tell; -1 if they tell too little."""
        if (kind, texts) not in self._told:
            self._told[kind, texts] = self._tell(kind, texts)
        return self._told[kind, texts]

    def _tell(self, kind: Kind, texts: tuple[str | None, ...]) -> int:
        name, op_type, place = (*texts, "graph") if kind is Kind.ASYNC else (*texts, "XLA", "xla")
        # The whole of a fetch or of a loop over a dataset has an event of its own.
        if name is None or op_type is None or kind is Kind.ASYNC and (is_input(op_type) or op_type == "ReduceDataset"):
            return -1
        return self._add(OpKey(name, op_type, cast(Place, place)), OpKey(name, op_type, "input"))

    def _add(self, of_script: OpKey, of_data: OpKey) -> int:
        self._keys += (of_script, of_data)
        return len(self._keys) // 2 - 1

    def key(self, slot: int) -> OpKey:
        """Return the key of an operation: its number twice, and one more where tf.data runs it."""
        return self._keys[slot]


def _named_key(named: Named, of_data: bool, has_thunks: bool) -> OpKey:
    """Return the key of an event whose name says it all; without a type if it is no operation."""
    if named.kind is Kind.EAGER:
        return OpKey(named.type, named.type, "input" if of_data or is_input(named.type) else "eager")
    if named.kind is Kind.GET_NEXT:
        return OpKey(named.type, named.type, "input")
    if is_function(named.type):  # how an eager call of a jit-compiled function reads
        # TensorFlow 2.16 tells no kernels of XLA on a CPU: the function is one piece.
        return OpKey(function_name(named.type), "" if has_thunks else "XLA function", "xla")
    return OpKey(named.name, named.type, "input" if of_data else "graph")


class _Work(NamedTuple):
    """Facts about each event of a piece. ``parent``: the place of the event around it, -1 for none.

    ``operation``: the place of the innermost operation around it that counts. ``is_operation``: whether the event is an
    operation, and not part of the one around it. ``counts``: whether it is one that begins within the window.
    ``of_data``: whether tf.data runs it. ``slot``: see ``_Labels.key``.
    """

    parent: Ints
    operation: Ints
    is_operation: Flags
    counts: Flags
    of_data: Flags
    slot: Ints


class OpReader:
    """Adds up the operations of the lines it is given.

    ``window``: operations that begin outside of it are left out. ``waits``: spans of fetches; the operations of the
    script's own functions that overlap them are kept in ``busy``.
    """

    def __init__(self, host: Host, window: Iterable[Span]) -> None:
        self.ops: dict[OpKey, OpTime] = {}
        self.exchanges: list[tuple[Span, str]] = []  # with other replicas, and the operation's name
        self.handed: list[tuple[Span, str]] = []  # the same, as they were handed over to whoever waits
        self._computing: list[Spans] = []
        self._busy: list[Spans] = []
        self._host = host
        self._window = union([spans_of(window)])
        self._fetches = union([spans_of(host.fetches)])
        self._kernels: list[list[Kernel]] = []

    @property
    def computing(self) -> Spans:
        """Return the stretches in which an operation of a graph computed, without operations inside it, and without
        exchanges.
        """
        return union(self._computing)

    @property
    def busy(self) -> Spans:
        """Return the stretches in which an operation of the script's own functions ran next to a fetch."""
        return union(self._busy)

    def read(self, plane: Plane) -> None:
        """Read the plane ``/host:CPU``."""
        tracks = read_tracks(plane)
        labels = _Labels(tracks, "hlo_op" in plane.stat_ids)
        reader = PieceReader(self._host, tracks, _SECOND)
        for track in tracks.lines():
            if not track.name.startswith(DRIVER_LINES):
                self._kernels.append([])
                for piece in reader.read(track):
                    self._read_piece(labels, piece)
        for kind, ps in undisturbed(self._kernels).items():
            op = self.ops.get(OpKey(kind, kind, "eager"))
            if op is not None:
                op.kernel_ps = ps

    def _read_piece(self, labels: _Labels, piece: Piece) -> None:
        code = piece.code
        label, opens = labels.of_code[code], labels.opens[code]
        for kind, stats in _TOLD.items():
            places = np.flatnonzero(labels.kinds[kind][code])
            if len(places):
                label[places] = [labels.told(kind, texts) for texts in piece.texts(stats, places)]
                opens[places] = label[places] >= 0
        work = self._operations(labels, piece, label, opens)
        self._count(labels, piece, work)
        self._add_kernels(labels, piece, work)
        if len(self._fetches):
            beside = work.is_operation & ~labels.fetches[code] & ~work.of_data
            begin, end = piece.begin[beside], piece.end[beside]
            touched = overlap(self._fetches, begin, end)
            self._busy.append(union([Spans(begin[touched], end[touched])]))

    def _operations(self, labels: _Labels, piece: Piece, label: Ints, opens: Flags) -> _Work:
        """Find the operations. An event is part of an eager operation only if no other operation is between them."""
        code = piece.code
        inside_window = inside(self._window, piece.begin)
        is_part = np.zeros(len(piece), dtype=bool)
        for _ in range(_MAX_DEPTH):
            open_now = opens & ~is_part
            is_operation = open_now & (label >= 0)
            counts = is_operation & inside_window
            parent = around(piece.begin, piece.end, open_now)
            operation = nearest(parent, counts)
            outer = code[operation]
            found = labels.fetches[code] | labels.parts[code] & (labels.type_of[code] == labels.type_of[outer])
            found &= (operation >= 0) & labels.eager[outer]
            if (found == is_part).all():
                break
            is_part = found
        of_data = piece.is_of_data(parent)
        return _Work(parent, operation, is_operation, counts, of_data, 2 * label + of_data)

    def _count(self, labels: _Labels, piece: Piece, work: _Work) -> None:
        """Add the operations that count, each without the time of the operations within it."""
        own = piece.end - piece.begin
        inner = np.zeros(len(piece), dtype=np.int64)
        within = np.flatnonzero(work.is_operation & (work.operation >= 0))
        outer = work.operation[within]
        np.add.at(inner, outer, np.minimum(piece.end[within], piece.end[outer]) - piece.begin[within])
        own -= inner
        counted = np.flatnonzero(work.counts)
        slots, first, slot, counts = np.unique(
            work.slot[counted], return_index=True, return_inverse=True, return_counts=True
        )
        keys = [labels.key(number) for number in slots.tolist()]
        sums = np.zeros(len(slots), dtype=np.int64)
        np.add.at(sums, slot, own[counted])
        for index in np.argsort(first).tolist():
            op = self.ops.get(keys[index])
            if op is None:
                op = self.ops[keys[index]] = OpTime()
            op.count += int(counts[index])
            op.self_ps += int(sums[index])
        exchange = np.array([key.type.startswith(EXCHANGES) for key in keys], dtype=bool)
        in_graph = np.array([key.place == "graph" for key in keys], dtype=bool)
        computes = np.array([key.place in ("graph", "xla") for key in keys], dtype=bool) & ~exchange
        computing = counted[computes[slot] & (inner[counted] == 0)]
        self._computing.append(union([Spans(piece.begin[computing], piece.end[computing])]))
        for index in np.flatnonzero((exchange & in_graph)[slot]).tolist():
            place = counted[index]
            spans = self.handed if labels.kinds[Kind.ASYNC][piece.code[place]] else self.exchanges
            spans.append((Span(int(piece.begin[place]), int(piece.end[place])), keys[slot[index]].name))

    def _add_kernels(self, labels: _Labels, piece: Piece, work: _Work) -> None:
        """Add the kernel of each eager operation that counts. The run of a graph is no kernel."""
        kernels = np.flatnonzero(labels.kernels[piece.code])
        kernels = kernels[work.parent[kernels] >= 0]
        parent = work.parent[kernels]
        is_eager = work.counts[parent] & labels.eager[piece.code[parent]]
        for kernel, op in zip(kernels[is_eager].tolist(), parent[is_eager].tolist(), strict=True):
            key = labels.key(work.slot[op])
            if key.place == "eager":
                self._kernels[-1].append(Kernel(key.type, int(piece.end[kernel] - piece.begin[kernel])))


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
