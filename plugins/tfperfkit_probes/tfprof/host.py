"""The first reading of a trace's host plane: the steps, the training thread's timeline, who runs which call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tfperfkit.records.pipelines import READING
from tfperfkit.xplane import Plane, Space
from tfperfkit.xplane.intervals import Ints, Spans, union
from tfperfkit.xplane.names import HOST, STEP_MARKER, Kind, Named, is_function, is_input
from tfperfkit.xplane.nesting import around, nearest, pieces
from tfperfkit.xplane.spans import Span
from tfperfkit.xplane.tracks import Track, Tracks, read_tracks
from tfperfkit_probes.tfprof.breakdown import LABELS, Label, Labelled

#: tf.data's own threads: ``tf_data_private_threadpool``, ``tf_data_iterator_get_next`` ...
DATA_THREADS = "tf_data"
#: Any of TensorFlow's own: operations one by one on them are of Python that a graph or a pipeline has called.
_ITS_THREADS = "tf_"
#: The stage of a tf.data pipeline that runs the body of a loop over a dataset within a compiled function.
_LOOP_BODY = "::Scan"
_REDUCTION = "ReduceIterator::"
_PREFETCHED = "Iterator::Root::Prefetch"


class Marker(NamedTuple):
    """A traced step: its number and its span."""

    number: int
    span: Span


NOTHING = Labelled(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8))


@dataclass
class Timeline:
    """The events of one thread that count in the breakdown, and the steps marked on it."""

    markers: list[Marker] = field(default_factory=list)
    events: Labelled = NOTHING
    calls: list[tuple[Span, str]] = field(default_factory=list)  # of compiled functions, by their runtime name
    instantiating: list[int] = field(default_factory=list)  # ps of each of these calls before its function runs
    of_tensorflow: bool = False  # a thread of its own


@dataclass
class Host:
    """The result of the first reading. Spans are in picoseconds since the session began."""

    timelines: list[Timeline] = field(default_factory=list)
    script_calls: set[int] = field(default_factory=set)  # executions that the script asked for
    data_calls: set[int] = field(default_factory=set)  # executions that tf.data asked for
    own_calls: set[int] = field(default_factory=set)  # executions that tfperf itself asked for
    fetches: list[Span] = field(default_factory=list)  # a graph waiting for its next element
    end: int = 0
    prefetches: bool = False  # the pipeline ends with a prefetch, the script's own or one that tf.data put in
    compiles: list[Span] = field(default_factory=list)  # XLA making machine code
    # who asked for the work within each event of a thread, see ``pieces``
    asked_by: WeakKeyDictionary[Track, npt.NDArray[np.int8]] = field(default_factory=WeakKeyDictionary)
    cut: list[Span] = field(default_factory=list)  # calls that were under way when the trace began, and when it ended

    @property
    def training(self) -> Timeline:
        """The thread that holds the steps; without steps, that of the script's which keeps the runtime busiest. None is
        there where all of the trace lies within one call."""
        marked = max(self.timelines, key=lambda line: len(line.markers), default=Timeline())
        if marked.markers:
            return marked
        own = [line for line in self.timelines if not line.of_tensorflow]
        return max(own, key=_busy, default=Timeline())


_FIRST = frozenset(
    {
        Kind.MARKER,
        Kind.EAGER,
        Kind.SESSION,
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
    """Read the plane ``/host:CPU`` for everything but its operations; once for all who ask."""
    return plane.once(_read)


def _read(plane: Plane) -> Host:
    host = Host()
    tracks = read_tracks(plane)
    first, compiles = tracks.flag_kinds(_FIRST), tracks.flag_kinds({Kind.COMPILE})
    kernels = tracks.flag_kinds({Kind.KERNEL})
    prefetches = tracks.flag_named(lambda named: named.name.startswith(_PREFETCHED))
    reductions = tracks.flag_named(lambda named: named.name.startswith(_REDUCTION))
    labels = [_label(named) if named is not None else None for named in tracks.named]
    label_of = np.array([LABELS.index(label) if label is not None else -1 for label in labels], dtype=np.int8)
    askers = _Askers(host, tracks)
    sources: dict[str, list[Span]] = {}
    for track in tracks.lines():
        which = track.where(first)
        if not len(which):
            continue
        host.end = max(host.end, int(track.end_ps[which].max()))
        timeline = Timeline(_markers(tracks, track), of_tensorflow=track.name.startswith(_ITS_THREADS))
        host.compiles += _spans(track, track.where(compiles))
        host.prefetches |= bool(prefetches[track.code].any())
        for begin, end, code in track.events(track.where(reductions)):
            sources.setdefault(tracks.names[code], []).append(Span(begin, end))
        counted = label_of[track.code[which]]
        label = counted[counted >= 0]
        there = which[counted >= 0]
        timeline.events = Labelled(track.begin_ps[there], track.end_ps[there], label)
        graphs = there[label == LABELS.index("graph")]
        types = [tracks.named[code] for code in track.code[graphs].tolist()]
        timeline.calls = [
            (span, named.type) for span, named in zip(_spans(track, graphs), types, strict=True) if named is not None
        ]
        runs = np.sort(track.begin_ps[track.where(kernels)]) if timeline.calls else np.zeros(0, np.int64)
        timeline.instantiating = [_time_before_run(span, runs) for span, _ in timeline.calls]
        askers.read(track, which)
        if timeline.markers or len(there):
            host.timelines.append(timeline)
    host.fetches += _loop_fetches(sources)
    _add_cut(host, tracks)
    return host


def _time_before_run(call: Span, runs: Ints) -> int:
    """Return the ps of a call of a compiled function before its kernel begins (``KernelAndDevice`` in
    tensorflow/core/common_runtime/eager/execute.cc): in them the runtime looks for the kernel and, if it is not in the
    cache, instantiates the function with Grappler's optimisation. 0 where the kernel was not seen."""
    place = int(np.searchsorted(runs, call.begin))
    return int(runs[place]) - call.begin if place < len(runs) and runs[place] < call.end else 0


def _busy(line: Timeline) -> int:
    return int((line.events.end - line.events.begin).sum())


def _spans(track: Track, which: Ints) -> list[Span]:
    return [Span(begin, end) for begin, end, _ in track.events(which)]


def _markers(tracks: Tracks, track: Track) -> list[Marker]:
    """Other tools and scripts mark steps by the same name; ours also carry "tfperf"."""
    which = track.where(tracks.flag_kinds({Kind.MARKER}))
    if not len(which):
        return []
    numbers = track.numbers("step_num", which)
    ours = track.coded(("tfperf",), which)["tfperf"].codes >= 0
    found = zip(numbers, _spans(track, which), ours.tolist(), strict=True)
    return [Marker(number, span) for number, span, is_ours in found if is_ours and number is not None]


class _Askers:
    """Finds who asked for each execution, and the fetches of graphs, by the events around them."""

    def __init__(self, host: Host, tracks: Tracks) -> None:
        self._host = host
        self._calls = tracks.flag_kinds({Kind.CALL, Kind.SESSION})
        self._fetches = tracks.flag_kinds({Kind.GET_NEXT})
        stages = tracks.flag_kinds({Kind.ITERATOR})
        bodies = tracks.flag_named(lambda named: named.name.startswith(_REDUCTION) and named.name.endswith(_LOOP_BODY))
        self._deciding = stages | tracks.flag_kinds({Kind.REDUCE})
        self._of_data = stages & ~bodies
        self._readings = tracks.flag_named(lambda named: named.kind is Kind.EAGER and named.type == READING)
        self._inputs = tracks.flag_named(lambda named: named.kind is Kind.EAGER and is_input(named.type))

    def read(self, track: Track, which: Ints) -> None:
        """Read the events of a thread that are in ``which``."""
        if not (self._calls | self._fetches)[track.code[which]].any():
            return
        begin, end = track.begin_ps[which], track.end_ps[which]
        for cut in pieces(begin, end):
            self._read_piece(track, which[cut], begin[cut], end[cut])

    def _read_piece(self, track: Track, which: Ints, begin: Ints, end: Ints) -> None:
        code = track.code[which]
        parent = around(begin, end, np.ones(len(which), dtype=bool))
        calls = np.flatnonzero(self._calls[code])
        numbers = track.integers("id", which[calls])
        calls, numbers = calls[numbers != -1], numbers[numbers != -1]
        source = nearest(parent, self._deciding[code])[calls]
        of_data = np.where(source >= 0, self._of_data[code[source]], track.name.startswith(DATA_THREADS))
        is_own = nearest(parent, self._readings[code])[calls] >= 0
        self._host.own_calls.update(numbers[is_own].tolist())
        self._host.data_calls.update(numbers[~is_own & of_data].tolist())
        self._host.script_calls.update(numbers[~is_own & ~of_data].tolist())
        fetches = self._fetches[code] & (nearest(parent, self._inputs[code]) < 0)
        self._host.fetches += map(Span, begin[fetches].tolist(), end[fetches].tolist())


def calls_of(timeline: Timeline) -> Spans:
    """When a compiled function ran, by the thread that called it."""
    mine = timeline.events.label == LABELS.index("graph")
    return union([Spans(timeline.events.begin[mine], timeline.events.end[mine])])


def _add_cut(host: Host, tracks: Tracks) -> None:
    """Add the calls that were under way when the trace began, or ended, which left no event of their own.

    Add the work of their graphs' runs meanwhile: the stretches of execution, and fetches.
    """
    timeline = host.training
    if timeline.markers:
        return
    events = timeline.events
    last = int(events.end.max()) if len(events.end) else 0
    others = host.data_calls | host.own_calls
    unfinished = max(_executions(tracks, others, after=last), key=_length, default=None)
    fetching = [span.begin for span in host.fetches if span.begin >= last]
    rest = [*([Span(min(fetching), host.end)] if fetching else []), *([unfinished] if unfinished is not None else [])]
    added = [Span(min(span.begin for span in rest), max(span.end for span in rest))] if rest else []
    # The event of a call's start is missing where the trace began later.
    called = [*events.begin[events.label == LABELS.index("graph")].tolist(), *(span.begin for span in added)]
    first = min(called, default=0)
    begun = max(
        (span for span in _executions(tracks, others | host.script_calls) if span.end <= first),
        key=_length,
        default=None,
    )
    host.cut = [span for span in (begun, unfinished) if span is not None]
    added = [*added, *([begun] if begun is not None else [])]
    if not added:
        return
    host.end = max(host.end, *(span.end for span in added))
    timeline.events = Labelled(
        np.append(events.begin, [span.begin for span in added]),
        np.append(events.end, [span.end for span in added]),
        np.append(events.label, np.full(len(added), LABELS.index("graph"), dtype=np.int8)),
    )
    if all(timeline is not each for each in host.timelines):
        host.timelines.append(timeline)


def _length(span: Span) -> int:
    return span.end - span.begin


def _executions(tracks: Tracks, others: set[int], after: int = 0) -> list[Span]:
    """Return the executions of graphs but ``others``, from ``after`` on; of those that last equally long the earlier
    first."""
    executors = tracks.flag_kinds({Kind.EXECUTOR})
    left_out = np.array(sorted(others), dtype=np.int64)
    spans: dict[int, Span] = {}
    for track in tracks.lines():
        which = track.where(executors)
        which = which[track.begin_ps[which] >= after]
        numbers = track.integers("id", which)
        is_mine = (numbers != -1) & ~np.isin(numbers, left_out)
        which = which[is_mine]
        calls, first, call = np.unique(numbers[is_mine], return_index=True, return_inverse=True)
        end_ps = track.end_ps[which]
        ends = end_ps[first]
        np.maximum.at(ends, call, end_ps)
        for index in np.argsort(first).tolist():
            begin, end = int(track.begin_ps[which[first[index]]]), int(ends[index])
            known = spans.get(int(calls[index]), Span(begin, end))
            spans[int(calls[index])] = Span(min(known.begin, begin), max(known.end, end))
    return list(spans.values())


def _label(named: Named) -> Label | None:
    if named.kind is Kind.EAGER:
        if named.type == READING:
            return "other"
        if is_function(named.type):
            return "graph"
        return "input" if is_input(named.type) else "eager_ops"
    if named.kind is Kind.SESSION:
        return "graph"
    if named.kind is Kind.TRACING:
        return "tracing"
    return "other" if named.kind is Kind.FREEING else None


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
