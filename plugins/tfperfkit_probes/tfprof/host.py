"""The first reading of a trace's host plane: the steps, the training thread's timeline, who runs which call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tfperfkit.records.pipelines import READING
from tfperfkit.xplane import Event, Line, Plane, Space
from tfperfkit.xplane.names import HOST, STEP_MARKER, Kind, Named, is_function, is_input, parse
from tfperfkit.xplane.spans import Span
from tfperfkit_probes.tfprof.breakdown import Label, Labelled

#: tf.data's own threads: ``tf_data_private_threadpool``, ``tf_data_iterator_get_next`` ...
DATA_THREADS = "tf_data"
#: The stage of a tf.data pipeline that runs the body of a loop over a dataset within a compiled function.
_LOOP_BODY = "::Scan"
_PREFETCHED = "Iterator::Root::Prefetch"


class Marker(NamedTuple):
    """A traced step: its number and its span."""

    number: int
    span: Span


@dataclass
class Timeline:
    """The events of one thread that count in the breakdown, and the steps marked on it."""

    markers: list[Marker] = field(default_factory=list)
    events: list[Labelled] = field(default_factory=list)
    calls: list[tuple[Span, str]] = field(default_factory=list)  # of compiled functions, by their runtime name


@dataclass
class Host:
    """What the first reading found. Spans are in picoseconds since the session began."""

    timelines: list[Timeline] = field(default_factory=list)
    script_calls: set[int] = field(default_factory=set)  # executions that the script asked for
    data_calls: set[int] = field(default_factory=set)  # executions that tf.data asked for
    own_calls: set[int] = field(default_factory=set)  # executions that tfperf itself asked for
    fetches: list[Span] = field(default_factory=list)  # a graph waiting for its next element
    end: int = 0
    prefetches: bool = False  # the pipeline ends with a prefetch, the script's own or one that tf.data put in
    compiles: list[Span] = field(default_factory=list)  # XLA making machine code

    @property
    def training(self) -> Timeline:
        """The thread that holds the steps; without steps, the one that keeps the runtime busiest."""
        marked = max(self.timelines, key=lambda line: len(line.markers), default=Timeline())
        if marked.markers:
            return marked
        return max(self.timelines, key=lambda line: sum(e.end - e.begin for e in line.events), default=Timeline())

    def is_own(self, event: Event, named: Named) -> bool:
        """Whether an event and what is within it is tfperf's reading of a pipeline: no work of the script's."""
        if named.kind is Kind.EXECUTOR:
            return bool(self.own_calls) and event.stat("id") in self.own_calls
        return named.kind is Kind.EAGER and named.type == READING


class Names:
    """``parse`` with a memory: an event's name is looked at once."""

    def __init__(self, wanted: Callable[[Named], bool]) -> None:
        self._wanted = wanted
        self._known: dict[str, Named | None] = {}

    def keep(self, name: str) -> bool:
        return self[name] is not None

    def __getitem__(self, name: str) -> Named | None:
        if name not in self._known:
            named = parse(name)
            self._known[name] = named if named is not None and self._wanted(named) else None
        return self._known[name]


def nested(line: Line, names: Names) -> Iterator[tuple[Event, Named, list[tuple[int, Named]]]]:
    """The wanted events of a line by time, each with those around it, outermost first: (end in ps, what it is)."""
    stack: list[tuple[int, Named]] = []
    for event in line.in_order(names.keep):
        named = names[event.name]
        if named is None:
            continue
        while stack and event.begin_ps >= stack[-1][0]:
            stack.pop()
        yield event, named, stack
        stack.append((event.end_ps, named))


_FIRST = frozenset(
    {
        Kind.MARKER,
        Kind.EAGER,
        Kind.TRACING,
        Kind.FREEING,
        Kind.CALL,
        Kind.ITERATOR,
        Kind.GET_NEXT,
        Kind.REDUCE,
        Kind.COMPILE,
    }
)


def has_steps(space: Space) -> bool:
    """Whether steps are marked in a trace; reads the names in it, no event."""
    plane = space.plane(HOST)
    return plane is not None and any(plane.event_name(number) == STEP_MARKER for number in plane.event_metadata)


def read_host(plane: Plane) -> Host:
    """Read the plane ``/host:CPU`` for everything but its operations."""
    host = Host()
    names = Names(lambda named: named.kind in _FIRST)
    sources: dict[str, list[Span]] = {}
    for line in plane.lines():
        timeline = Timeline()
        on_data_thread = line.name.startswith(DATA_THREADS)
        for event, named, around in nested(line, names):
            span = Span(event.begin_ps, event.end_ps)
            host.end = max(host.end, span.end)
            if named.kind is Kind.MARKER:
                number = event.stat("step_num")
                # Other tools and scripts mark steps by the same name; ours also carry "tfperf".
                if isinstance(number, int) and event.stat("tfperf") is not None:
                    timeline.markers.append(Marker(number, span))
            elif named.kind is Kind.COMPILE:
                host.compiles.append(span)
            elif named.kind is Kind.CALL:
                number = event.stat("id")
                if isinstance(number, int):
                    of_data = _is_of_data(around, on_data_thread)
                    own = any(outer.kind is Kind.EAGER and outer.type == READING for _, outer in around)
                    (host.own_calls if own else host.data_calls if of_data else host.script_calls).add(number)
            elif named.kind is Kind.GET_NEXT:
                if not any(outer.kind is Kind.EAGER and is_input(outer.type) for _, outer in around):
                    host.fetches.append(span)
            elif named.kind is Kind.ITERATOR:
                host.prefetches |= named.name.startswith(_PREFETCHED)
                if named.name.startswith("ReduceIterator::"):
                    sources.setdefault(named.name, []).append(span)
            elif (label := _label(named)) is not None:
                timeline.events.append(Labelled(span.begin, span.end, label))
                if label == "graph":
                    timeline.calls.append((span, named.type))
        if timeline.markers or timeline.events:
            host.timelines.append(timeline)
    host.fetches += _loop_fetches(sources)
    return host


def _label(named: Named) -> Label | None:
    if named.kind is Kind.EAGER:
        if named.type == READING:
            return "other"
        if is_function(named.type):
            return "graph"
        return "input" if is_input(named.type) else "eager_ops"
    if named.kind is Kind.TRACING:
        return "tracing"
    return "other" if named.kind is Kind.FREEING else None


def _is_of_data(around: list[tuple[int, Named]], on_data_thread: bool) -> bool:
    for _, outer in reversed(around):
        if outer.kind is Kind.ITERATOR:
            return not (outer.name.startswith("ReduceIterator::") and outer.name.endswith(_LOOP_BODY))
        if outer.kind is Kind.REDUCE:
            return False
    return on_data_thread


def _loop_fetches(sources: dict[str, list[Span]]) -> list[Span]:
    """The fetches of ``for batch in dataset`` within a tf.function, which TensorFlow runs as a reduction.

    AutoGraph puts the loop's body into a ``Scan`` stage: what that stage asks for is the script's dataset.
    ``Dataset.reduce`` has no such stage: what the reduction asks for is the dataset.
    """
    if not sources:
        return []
    root = min(sources, key=len)
    bodies = [name for name in sources if name.endswith(_LOOP_BODY)]
    if not bodies:
        return sources[root]
    body = min(bodies, key=len)
    return [
        span
        for name, spans in sources.items()
        if name.startswith(body + "::") and "::" not in name[len(body) + 2 :]
        for span in spans
    ]
