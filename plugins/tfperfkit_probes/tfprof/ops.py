"""The second reading: every operation that ran in the traced steps, with its own time."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from tfperfkit.xplane import Event, Line, Plane
from tfperfkit.xplane.names import DERIVED_LINES, Kind, Named, function_name, is_function, is_input
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit_probes.tfprof.host import DATA_THREADS, Host, Names
from tfperfkit_probes.tfprof.kernels import Kernel, undisturbed

#: How an operation ran: one by one, in a graph, as an XLA kernel, on an accelerator, or for the input pipeline.
Place = Literal["eager", "graph", "xla", "device", "input"]


#: Types of operations in a graph that exchange tensors with other replicas; an event lasts until the last has come.
EXCHANGES = ("CollectiveReduce", "CollectiveGather", "CollectiveAllToAll", "Nccl", "Horovod")


class OpKey(NamedTuple):
    """What is counted together. Eager operations have no name of their own: they go by their type."""

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
    """An event on the stack: an operation that is counted, or a context that tells who runs what is in it."""

    __slots__ = ("begin", "end", "inner", "key", "named", "of_data")

    def __init__(self, begin: int, end: int, named: Named, key: OpKey | None, of_data: bool | None) -> None:
        self.begin = begin
        self.end = end
        self.named = named
        self.key = key
        self.of_data = of_data
        self.inner = 0


_SECOND = frozenset({Kind.EAGER, Kind.OP, Kind.ASYNC, Kind.EXECUTOR, Kind.GET_NEXT, Kind.ITERATOR, Kind.MAYBE_THUNK})
_SECOND |= {Kind.KERNEL}
#: Lines of the host plane that hold the driver's calls; the kernels themselves stand on the device's lines.
_DRIVER_LINES = "Host Threads"


class OpReader:
    """Adds up the operations of the lines it is given.

    ``window``: operations that begin outside of it are left out. ``waits``: spans of fetches; the operations of the
    script's own functions that overlap them are kept in ``busy``.
    """

    def __init__(self, host: Host, window: Iterable[Span]) -> None:
        self.ops: dict[OpKey, OpTime] = {}
        self.busy: list[Span] = []
        self.exchanges: list[tuple[Span, str]] = []  # with other replicas, and the operation's name
        self.handed: list[tuple[Span, str]] = []  # the same, as they were handed over to whoever waits
        # What computes, in a graph: numbers, not objects, for there may be millions.
        self._begins, self._ends = array("q"), array("q")
        self._host = host
        self._window = SpanIndex(window)
        self._fetches = SpanIndex(host.fetches)
        self._thunks = False
        self._kernels: list[list[Kernel]] = []

    @property
    def computing(self) -> Iterator[Span]:
        """When an operation of a graph computed: with none inside of it, and no exchange."""
        return map(Span, self._begins, self._ends)

    def read(self, plane: Plane) -> None:
        """Read the plane ``/host:CPU``."""
        self._thunks = "hlo_op" in plane.stat_ids
        names = Names(lambda named: named.kind in _SECOND and (self._thunks or named.kind is not Kind.MAYBE_THUNK))
        for line in plane.lines():
            if not line.name.startswith(_DRIVER_LINES):
                self._kernels.append([])
                self._read_line(line, names)
        for kind, ps in undisturbed(self._kernels).items():
            op = self.ops.get(OpKey(kind, kind, "eager"))
            if op is not None:
                op.kernel_ps = ps

    def _read_line(self, line: Line, names: Names) -> None:
        on_data_thread = line.name.startswith(DATA_THREADS)
        stack: list[_Open] = []
        own_until = 0
        for event in line.in_order(names.keep):
            named = names[event.name]
            if named is None or event.begin_ps < own_until:
                continue
            if self._host.is_own(event, named):
                own_until = event.end_ps
                continue
            while stack and event.begin_ps >= stack[-1].end:
                self._close(stack.pop())
            if named.kind is Kind.KERNEL:
                self._kernel(event, stack)
                continue
            owner = next((outer.of_data for outer in reversed(stack) if outer.of_data is not None), on_data_thread)
            opened = self._open(event, named, stack, owner)
            if opened is None:
                continue
            if opened.key is not None:
                self._count(event, opened, stack, owner)
            stack.append(opened)
        while stack:
            self._close(stack.pop())

    def _open(self, event: Event, named: Named, stack: list[_Open], of_data: bool) -> _Open | None:
        """What the event puts on the stack; None if it is part of what is there already."""
        begin, end, kind = event.begin_ps, event.end_ps, named.kind
        if kind is Kind.ITERATOR:
            return _Open(begin, end, named, None, True)
        if kind is Kind.EXECUTOR:
            return _Open(begin, end, named, None, self._is_of_data(event.stat("id")))
        operation = next((outer.named for outer in reversed(stack) if outer.key is not None), None)
        if kind is Kind.EAGER:
            if is_function(named.type):
                return _Open(begin, end, named, None, None)
            place: Place = "input" if of_data or is_input(named.type) else "eager"
            return _Open(begin, end, named, OpKey(named.type, named.type, place), None)
        if kind is Kind.GET_NEXT:
            if operation is not None and operation.kind is Kind.EAGER:
                return None
            return _Open(begin, end, named, OpKey(named.type, named.type, "input"), None)
        if kind is Kind.ASYNC:
            name, op_type = event.stat("name"), event.stat("kernel_type")
            if not isinstance(name, str) or not isinstance(op_type, str):
                return None
            # The whole of a fetch or of a loop over a dataset has an event of its own.
            if is_input(op_type) or op_type == "ReduceDataset":
                return None
            return _Open(begin, end, named, OpKey(name, op_type, "input" if of_data else "graph"), None)
        if kind is Kind.MAYBE_THUNK:
            name = event.stat("hlo_op")
            if not isinstance(name, str):
                return None
            return _Open(begin, end, named, OpKey(name, "XLA", "input" if of_data else "xla"), None)
        if is_function(named.type):  # how an eager call of a jit-compiled function reads
            if self._thunks:
                return None
            # TensorFlow 2.16 tells no kernels of XLA on a CPU: the function is one piece.
            return _Open(begin, end, named, OpKey(function_name(named.type), "XLA function", "xla"), None)
        if operation is not None and operation.kind is Kind.EAGER and operation.type == named.type:
            return None  # the kernel of the eager operation around it
        return _Open(begin, end, named, OpKey(named.name, named.type, "input" if of_data else "graph"), None)

    def _count(self, event: Event, opened: _Open, stack: list[_Open], of_data: bool) -> None:
        assert opened.key is not None
        for outer in reversed(stack):
            if outer.key is not None:
                outer.inner += min(event.end_ps, outer.end) - event.begin_ps
                break
        if event.begin_ps in self._window:
            op = self.ops.setdefault(opened.key, OpTime())
            op.count += 1
            op.self_ps += event.duration_ps
            if opened.key.place == "graph" and opened.key.type.startswith(EXCHANGES):
                spans = self.handed if opened.named.kind is Kind.ASYNC else self.exchanges
                spans.append((Span(event.begin_ps, event.end_ps), opened.key.name))
        else:
            opened.key = None
        if not of_data and opened.named.kind is not Kind.GET_NEXT and self._fetches.spans:
            span = Span(event.begin_ps, event.end_ps)
            if self._fetches.overlaps(*span):
                self.busy.append(span)

    def _kernel(self, event: Event, stack: list[_Open]) -> None:
        """The kernel of the eager operation around it, if that is counted; what runs a graph is none."""
        key = stack[-1].key if stack else None
        if key is not None and key.place == "eager" and stack[-1].named.kind is Kind.EAGER:
            self._kernels[-1].append(Kernel(key.type, event.duration_ps))

    def _close(self, opened: _Open) -> None:
        key = opened.key
        if key is None:
            return
        self.ops[key].self_ps -= opened.inner
        if key.place in ("graph", "xla") and not opened.inner and not key.type.startswith(EXCHANGES):
            self._begins.append(opened.begin)
            self._ends.append(opened.end)

    def _is_of_data(self, number: object) -> bool | None:
        if number in self._host.data_calls:
            return True
        return False if number in self._host.script_calls else None


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
