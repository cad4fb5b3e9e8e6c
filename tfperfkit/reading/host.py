"""Activity of the host in time: reasons for which an accelerator may have waited."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tfperfkit.offers.recorded_trace import Doing
from tfperfkit.reading.tracks import HostTrace, Track
from tfperfkit.xplane.columns import Ints
from tfperfkit.xplane.intervals import Spans, in_order, own_times, union

#: Matched in this order against an event's name.
_PATTERNS = (
    (Doing.INPUT, r"IteratorGetNext|MultiDeviceIteratorGetNext|GetNextFromShard|^InfeedEnqueue|DatasetToSingleElement"),
    (Doing.COMPILE, r"Compiler::|XlaCompile|::Compile\b|BuildExecutable|tf\.function-graph_building|backend_compile"),
    (
        Doing.COLLECTIVE,
        r"Collective(?:Reduce|Gather|Bcast|AllToAll|Executor)|Nccl|Horovod|AllReduce|AllGather|all-reduce|all-gather",
    ),
    (
        Doing.COPY,
        r"[Mm]emcpy|Memset|CopyToDevice|CopyFromDevice|CopyRawTo|TransferLiteral|TransferTo|_HostRecv|_HostSend",
    ),
    (Doing.LAUNCH, r"[Ll]aunch(?:Cooperative|Ext)?Kernel|ModuleLaunchKernel|GraphLaunch|LaunchKernel"),
    (Doing.PYTHON, r"^\$|^EagerLocalExecute|^PyArray|^TFE_Py"),
)
_COMPILED = tuple((doing, re.compile(pattern)) for doing, pattern in _PATTERNS)
#: A thread that sleeps or waits for others explains nothing: what it waits for does.
_WAITING = re.compile(
    r"^ThreadpoolListener|^Wait|::Wait|Await|BlockHost|BlockUntil|block_until_ready|[Ss]ynchronize|StreamWaitEvent"
    r"|^Memory(?:De)?[Aa]llocation|^end: |^ExecutorDoneCallback|^Prefetch|^Iterator::|^\$threading|^\$<built-in> wait"
    r"|^\$.* (?:wait|acquire|sleep|_?try_to_block|select|poll|start_trace|stop_trace)$|^ParallelMap"
)


@dataclass
class HostActivity:
    """One host. ``spans``: when any of its threads was at something; ``launches``: when a launch with a correlation
    number began; ``calls``: of functions that repeat, for steps without markers."""

    host: str
    spans: dict[Doing, Spans] = field(default_factory=dict)
    correlation: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    launched: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    markers: list[tuple[int, str, int, int]] = field(default_factory=list)  # number, name, begin, end
    calls: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    own_ps: dict[str, tuple[int, int]] = field(default_factory=dict)  # by name: times it ran, own time
    threads: int = 0
    events: int = 0
    first: int | None = None
    last: int = 0
    python_traced: bool = False


_CALL = re.compile(r"^PjitFunction\(|^EagerLocalExecute: __inference_|^FunctionRun$|^TpuExecute|^XlaLaunch|^train$")
_MAX_CALLS = 200_000
_MAX_NAMES = 100_000


_ORDER = {doing: number for number, doing in enumerate(Doing)}


class Names:
    """Meaning of events' names; each name is looked at once."""

    def __init__(self) -> None:
        self._doing: dict[str, Doing | None] = {}

    def doing(self, name: str) -> Doing | None:
        if name not in self._doing:
            self._doing[name] = _doing(name)
        return self._doing[name]


@functools.lru_cache(maxsize=_MAX_NAMES)  # hosts of a run have the same names
def _doing(name: str) -> Doing | None:
    for doing, pattern in _COMPILED[:2]:
        if pattern.search(name):
            return doing
    if _WAITING.search(name):
        return None
    for doing, pattern in _COMPILED[2:]:
        if pattern.search(name):
            return doing
    return Doing.RUNTIME


def keep(name: str) -> bool:
    """Return whether an event can be of use: two thirds of a graph's are the thread pool's notes to itself."""
    return not name.startswith(("ThreadpoolListener::", "MemoryAllocation", "MemoryDeallocation", "end: "))


def read(trace: HostTrace, operations: bool) -> HostActivity:
    """Read the host's threads. ``operations``: also each event's own time (a trace without accelerators)."""
    found = HostActivity(trace.host)
    names = Names()
    correlations: list[Ints] = []
    launched: list[Ints] = []
    totals: dict[str, list[int]] = {}
    for track in trace.host_tracks(keep):
        if len(track):
            numbers, begins = _add(track, names, totals if operations else None, found)
            if len(numbers):
                correlations.append(numbers)
                launched.append(begins)
        del track  # before the next one is read
    if correlations:
        numbers, begins = np.concatenate(correlations), np.concatenate(launched)
        order = np.lexsort((begins, numbers))
        numbers, begins = numbers[order], begins[order]
        earliest = np.concatenate([[True], numbers[1:] != numbers[:-1]])
        found.correlation, found.launched = numbers[earliest], begins[earliest]
    found.own_ps = {name: (count, own) for name, (count, own) in totals.items()}
    return found


def _add(track: Track, names: Names, totals: dict[str, list[int]] | None, found: HostActivity) -> tuple[Ints, Ints]:
    """Add a thread. Return the correlation numbers of its launches, and when these began."""
    found.threads += 1
    found.events += len(track)
    begin, end = track.begin_ps, track.begin_ps + track.duration_ps
    found.first = int(begin.min()) if found.first is None else min(found.first, int(begin.min()))
    found.last = max(found.last, int(end.max()))
    kinds, first, inverse = np.unique(track.kind, return_index=True, return_inverse=True)
    kind_names = [track.name_of(kind) for kind in kinds.tolist()]
    found.python_traced |= any(name.startswith("$") for name in kind_names)
    marked = track.numbers("step_num", first) >= 0
    doings = [None if mark else names.doing(name) for mark, name in zip(marked.tolist(), kind_names, strict=True)]
    which = np.array([_ORDER[doing] if doing is not None else -1 for doing in doings], dtype=np.int8)[inverse]
    for number, doing in enumerate(Doing):
        mask = which == number
        if mask.any():
            # At once, not at the end: together they are far fewer than one by one.
            mine = union([Spans(begin[mask], end[mask])])
            found.spans[doing] = union([found.spans[doing], mine]) if doing in found.spans else mine
    _markers(track, marked, kind_names, inverse, found)
    _calls(kind_names, inverse, begin, end, found)
    if totals is not None:
        _add_own(track, kind_names, inverse, totals)
    correlation = track.numbers("correlation_id")
    has = correlation >= 0
    return correlation[has], begin[has]


def _markers(track: Track, marked: npt.NDArray[np.bool_], names: list[str], inverse: Ints, found: HostActivity) -> None:
    """Steps that the program marked itself: ``Trace("train", step_num=7, _r=1)``, ``StepTraceAnnotation``."""
    for index in np.flatnonzero(marked).tolist():
        events = np.flatnonzero(inverse == index)
        for number, event in zip(track.numbers("step_num", events).tolist(), events.tolist(), strict=True):
            begin = int(track.begin_ps[event])
            found.markers.append((number, names[index], begin, begin + int(track.duration_ps[event])))


def _calls(names: list[str], inverse: Ints, begin: Ints, end: Ints, found: HostActivity) -> None:
    for index, name in enumerate(names):
        if _CALL.search(name):
            events = np.flatnonzero(inverse == index)[:_MAX_CALLS]
            found.calls.setdefault(name, []).extend(zip(begin[events].tolist(), end[events].tolist(), strict=True))


def _add_own(track: Track, names: list[str], inverse: Ints, totals: dict[str, list[int]]) -> None:
    begin, duration, kinds = track.begin_ps, track.duration_ps, inverse
    order = in_order(begin, duration)
    if order is not None:
        begin, duration, kinds = begin[order], duration[order], inverse[order]
    own = own_times(begin, duration)
    counts = np.bincount(kinds, minlength=len(names))
    sums = np.bincount(kinds, weights=own.astype(np.float64), minlength=len(names))
    for name, count, total in zip(names, counts.tolist(), sums.tolist(), strict=True):
        entry = totals.setdefault(name, [0, 0])
        entry[0] += count
        entry[1] += int(total)


def is_work(name: str) -> bool:
    """Return whether an event is an operation, not the executor around it nor somebody's waiting."""
    around = ("$", "Executor", "FunctionRun", "EagerExecute", "train")
    return not is_waiting(name) and not name.startswith(around)


def is_waiting(name: str) -> bool:
    """Return whether a thread does nothing while it is in an event of this name."""
    return _WAITING.search(name) is not None
