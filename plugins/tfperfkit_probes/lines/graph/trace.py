"""From a trace to the calls of compiled functions on the training thread and the operations that ran meanwhile."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from tfperfkit.xplane import Event, Line, Plane
from tfperfkit.xplane.names import Kind, Named, is_function
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit_probes.tfprof.host import DATA_THREADS, Host, Names

#: How close the end of a kernel is noted after the work that its end set off, in ps.
_CONTINUATION = 50_000_000
_EXECUTE = "ThunkExecutor::Execute"
_END = "end: "


class Key(NamedTuple):
    """What runs: an operation of a graph, or with ``module`` an instruction of an XLA module."""

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
    """What the trace holds, in ps since the session began. ``pipeline`` is tf.data's own, on its threads."""

    calls: list[Call] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    pipeline: list[Segment] = field(default_factory=list)


_WANTED = frozenset({Kind.EAGER, Kind.OP, Kind.ASYNC, Kind.EXECUTOR, Kind.GET_NEXT, Kind.ITERATOR, Kind.MAYBE_THUNK})
_WAITING = frozenset(
    {
        "PartitionedCall",
        "StatefulPartitionedCall",
        "While",
        "StatelessWhile",
        "If",
        "StatelessIf",
        "Case",
        "StatelessCase",
        "ReduceDataset",
        "IteratorGetNext",
        "XlaLaunch",
        "_XlaRun",
        "_XlaCompile",
        "IteratorGetNextSync",
        "OptionalFromValue",
        "IteratorGetNextAsOptional",
        "_Recv",
        "_HostRecv",
        "RemoteCall",
        "XlaLocalLaunchBase",
    }
)


#: The work of an XLA instruction, by module and name; None for one that runs others, 0 if it is not known.
Cost = Callable[[str, str], float | None]


def read_activity(plane: Plane, host: Host, window: list[Span], cost: Cost) -> Activity:
    """Read the plane ``/host:CPU``."""
    reader = _Reader(host, window, cost)
    names = Names(lambda named: named.kind in _WANTED)
    keep = names.keep
    for line in plane.lines():
        if not line.name.startswith("Host Threads"):
            reader.read(line, names, lambda name: keep(name) or name == _EXECUTE or name.startswith(_END))
    reader.finish()
    return reader.activity


class _Open:
    __slots__ = ("begin", "end", "first", "key", "of_data", "thunk", "waits")

    def __init__(self, begin: int, end: int, key: Key | None, of_data: bool, waits: bool) -> None:
        self.begin = begin  # of the part that is not written yet
        self.end = end
        self.key = key
        self.of_data = of_data
        self.waits = waits
        self.first = True
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
        self._cost = cost
        self._keys: dict[str, Key] = {}
        #: Kernels whose end is noted elsewhere: what follows their begin on the thread is other work.
        self._started: dict[int, _Thunk] = {}
        self._ended: dict[int, int] = {}
        self._thunks: list[_Thunk] = []

    def read(self, line: Line, names: Names, keep: Callable[[str], bool]) -> None:
        on_data_thread = line.name.startswith(DATA_THREADS)
        stack: list[_Open] = []
        executed = Span(0, 0)  # the last stretch of XLA's work that is complete
        executing: list[Span] = []
        own_until = 0
        for event in line.in_order(keep):
            begin, end = event.begin_ps, event.end_ps
            while executing and begin >= executing[-1].end:
                executed = executing.pop()
            if event.name == _EXECUTE:
                executing.append(Span(begin, end))
                continue
            if event.name.startswith(_END):
                self._note_end(event, executed)
                continue
            named = names[event.name]
            if named is None or begin < own_until:
                continue
            if self._host.is_own(event, named):
                own_until = end
                continue
            while stack and begin >= stack[-1].end:
                self._close(stack)
            of_data = stack[-1].of_data if stack else on_data_thread
            opened = self._open(event, named, of_data)
            if opened is None:
                continue
            if stack and opened.key is not None:
                self._write(stack[-1], begin)
                stack[-1].begin = min(end, stack[-1].end)
            stack.append(opened)
        while stack:
            self._close(stack)

    def _open(self, event: Event, named: Named, of_data: bool) -> _Open | None:
        begin, end, kind = event.begin_ps, event.end_ps, named.kind
        if kind is Kind.OP:
            if is_function(named.type):
                return None  # how an eager call of a jit-compiled function reads
            key = self._keys.get(event.name)
            if key is None:
                key = self._keys[event.name] = Key(named.name, named.type)
            return _Open(begin, end, key, of_data, key.type in _WAITING)
        if kind is Kind.ITERATOR:
            return _Open(begin, end, None, True, False)
        if kind is Kind.EXECUTOR:
            known = self._is_of_data(event.stat("id"))
            return _Open(begin, end, None, of_data if known is None else known, False)
        if kind is Kind.EAGER:
            if is_function(named.type) and begin in self._window and not of_data:
                self.activity.calls.append(Call(named.type, begin, end))
            return _Open(begin, end, None, of_data, False)
        if kind is Kind.ASYNC:
            name, op_type = event.stat("name"), event.stat("kernel_type")
            if not isinstance(name, str) or not isinstance(op_type, str):
                return None
            return _Open(begin, end, Key(name, op_type), of_data, op_type in _WAITING)
        if kind is Kind.GET_NEXT:
            return _Open(begin, end, Key(named.type, named.type), of_data, True)
        instruction, module = event.stat("hlo_op"), event.stat("hlo_module")
        if not isinstance(instruction, str) or not isinstance(module, str):
            return None
        return self._kernel(event, Key(instruction, "XLA", module), of_data)

    def _kernel(self, event: Event, key: Key, of_data: bool) -> _Open:
        cost = self._cost(key.module, key.name)
        opened = _Open(event.begin_ps, event.end_ps, key, of_data, cost is None)
        if cost is not None and not of_data:
            opened.thunk = _Thunk(key, opened.begin, opened.end, cost, [])
            self._thunks.append(opened.thunk)
            producer = event.stat("_p")
            if isinstance(producer, int):
                self._started[producer] = opened.thunk
        return opened

    def _note_end(self, event: Event, executed: Span) -> None:
        number = event.stat("_c")
        if isinstance(number, int):
            end = event.begin_ps
            # What waits for the kernel runs before its end is noted, on the same thread.
            if executed.end <= end < executed.end + _CONTINUATION:
                end = executed.begin
            self._ended[number] = end

    def _close(self, stack: list[_Open]) -> None:
        closed = stack.pop()
        self._write(closed, closed.end)

    def _write(self, opened: _Open, until: int) -> None:
        if opened.key is not None and until > opened.begin and opened.begin in self._window:
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

    def _is_of_data(self, number: object) -> bool | None:
        if number in self._host.data_calls:
            return True
        return False if number in self._host.script_calls else None


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
