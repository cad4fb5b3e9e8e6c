"""Dividing the wall time of calls among what ran meanwhile, so that it adds up.

Each moment is counted once. It goes to the accelerator's kernels that run then, in equal parts if there are several;
if none runs, to the operations that run on the processor's threads, in equal parts. If none does while the function
fetches its next element, the moment is waiting for input and no part of the calls. Else it goes to operations that wait
(for a function that they called); else, while a call is under way, to no line: the runtime, gaps.

Products, convolutions and XLA's kernels share one pool of threads, where one that has been started may wait for another
to finish. Those whose work is known therefore share their parts of a moment by what each gets done in a picosecond of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tfperfkit.xplane.spans import Span
from tfperfkit_probes.lines.graph.trace import Call, CallIndex, Key, Segment


@dataclass
class Usage:
    """The time of one operation, in ps: ``wall`` is its part of the calls' time, ``alone`` the moments of that part in
    which nothing else ran; ``busy`` the sum over threads.
    """

    wall: float = 0.0
    alone: float = 0.0
    busy: int = 0
    runs: int = 0
    work: float = 0.0  # floating-point operations of one run, 0 if they are not known


@dataclass
class CallTime:
    """All calls of one function: the moments that are its own, what ran in them, and those in which nothing did; in ps.

    ``wall`` is the length of the calls without ``fetching``, in which they waited for their input; with an
    accelerator also the time in which their kernels run on after them. Overlap with another function's kernels counts
    for those kernels.
    """

    function: str
    calls: int = 0
    wall: float = 0.0
    usage: dict[Key, Usage] = field(default_factory=dict)
    idle: float = 0.0
    fetching: float = 0.0


class Kernel(NamedTuple):
    """Work of an accelerator and the moment (ps) at which the host asked for it."""

    segment: Segment
    launched: int


class _Work(NamedTuple):
    time: CallTime
    usage: Usage | None
    kind: int
    rate: float


_KERNEL, _RUNNING, _FETCHING, _WAITING, _CALL = range(5)


def divide(
    calls: Sequence[Call],
    segments: Iterable[Segment],
    kernels: Iterable[Kernel] = (),
    work_of: Callable[[str, Key], float] = lambda function, key: 0.0,
    fetches: Iterable[Span] = (),
) -> list[CallTime]:
    """Return the time of the functions that were called; what ran outside of all outermost calls is left out.

    ``work_of`` gives the floating-point operations of one run of a function's operation, 0 where they are not known.
    ``fetches``: when compiled functions fetched their next elements, on any thread.
    """
    index = CallIndex(list(calls))
    times: dict[str, CallTime] = {}
    work: list[_Work] = []
    edges: list[tuple[int, int, int]] = []

    def add(time: CallTime, usage: Usage | None, kind: int, span: tuple[int, int], rate: float = 0.0) -> None:
        edges.append((span[0], 1, len(work)))
        edges.append((span[1], 0, len(work)))
        work.append(_Work(time, usage, kind, rate))

    for call in index.calls:
        time = times.setdefault(call.function, CallTime(call.function))
        time.calls += 1
        add(time, None, _CALL, (call.begin, call.end))
    for segment in segments:
        number = index.at(segment.begin)
        if number is None:
            continue
        call = index.calls[number]
        time, end = times[call.function], min(segment.end, call.end)
        usage = _count(time, segment, end, work_of)
        if end > segment.begin:
            rate = segment.rate or usage.work / (end - segment.begin)
            add(time, usage, _WAITING if segment.waits else _RUNNING, (segment.begin, end), rate)
    for fetch in fetches:
        number = index.at(fetch.begin)
        if number is not None:
            call = index.calls[number]
            add(times[call.function], None, _FETCHING, (fetch.begin, min(fetch.end, call.end)))
    for kernel in kernels:
        number = index.at(kernel.launched)
        if number is not None and kernel.segment.end > kernel.segment.begin:
            time = times[index.calls[number].function]
            usage = _count(time, kernel.segment, kernel.segment.end, work_of)
            add(time, usage, _KERNEL, kernel.segment[:2])
    edges.sort()
    _sweep(edges, work)
    return list(times.values())


def _count(time: CallTime, segment: Segment, end: int, work_of: Callable[[str, Key], float]) -> Usage:
    usage = time.usage.get(segment.key)
    if usage is None:
        usage = time.usage[segment.key] = Usage(work=work_of(time.function, segment.key))
    usage.runs += segment.begins
    if not segment.waits:
        usage.busy += end - segment.begin
    return usage


def _sweep(edges: list[tuple[int, int, int]], work: list[_Work]) -> None:
    open_now: tuple[set[int], ...] = (set(), set(), set(), set(), set())
    moment = edges[0][0] if edges else 0
    for at, opens, number in edges:
        if at > moment:
            group = next((group for group in open_now if group), None)
            if group is not None:
                _share([work[item] for item in group], at - moment)
            moment = at
        if opens:
            open_now[work[number].kind].add(number)
        else:
            open_now[work[number].kind].discard(number)


def _share(group: list[_Work], span: int) -> None:
    even = 0.0
    alone = all(item.usage is group[0].usage for item in group)
    if len(group) > 1:
        rates = [item.rate for item in group if item.rate > 0]
        even = sum(rates) / len(rates) if rates else 0.0
    for item in group:
        part = span / len(group) * (item.rate / even if even and item.rate > 0 else 1.0)
        if item.kind == _FETCHING:
            item.time.fetching += part
            continue
        item.time.wall += part
        if item.usage is None:
            item.time.idle += part
        else:
            item.usage.wall += part
            item.usage.alone += part if alone else 0.0
