"""Dividing the wall time of calls among what ran meanwhile, so that it adds up.

Each moment is counted once. It goes to the accelerator's kernels that run then, in equal parts if there are several;
if none runs, to the operations that run on the processor's threads, in equal parts; if none does, to those that wait
(for the input, for a function that they called); else, while a call is under way, to no line: the runtime, gaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tfperfkit_probes.graphlines_trace import Call, CallIndex, Key, Segment


@dataclass
class Usage:
    """What one operation took, in ps: ``wall`` is its part of the calls' time, ``busy`` the sum over threads."""

    wall: float = 0.0
    busy: int = 0
    runs: int = 0


@dataclass
class CallTime:
    """One call: the moments that are its own, what ran in them, and those in which nothing did; all in ps.

    ``wall`` is the length of the call, and with an accelerator also the time in which its kernels run on after it;
    what overlaps with another call's kernels is theirs.
    """

    call: Call
    wall: float = 0.0
    usage: dict[Key, Usage] = field(default_factory=dict)
    idle: float = 0.0


class Kernel(NamedTuple):
    """Work of an accelerator and the moment (ps) at which the host asked for it."""

    segment: Segment
    launched: int


_KERNEL, _RUNNING, _WAITING, _CALL = range(4)


def divide(calls: Sequence[Call], segments: Iterable[Segment], kernels: Iterable[Kernel] = ()) -> list[CallTime]:
    """The time of each outermost call; work outside of all calls is left out."""
    index = CallIndex(list(calls))
    found = [CallTime(call) for call in index.calls]
    work: list[tuple[CallTime, Usage | None, int]] = []
    edges: list[tuple[int, int, int]] = []

    def add(time: CallTime, usage: Usage | None, kind: int, begin: int, end: int) -> None:
        edges.append((begin, 1, len(work)))
        edges.append((end, 0, len(work)))
        work.append((time, usage, kind))

    for time in found:
        add(time, None, _CALL, time.call.begin, time.call.end)
    for segment in segments:
        number = index.at(segment.begin)
        if number is None:
            continue
        time = found[number]
        end = min(segment.end, time.call.end)
        usage = _count(time, segment, end)
        if end > segment.begin:
            add(time, usage, _WAITING if segment.waits else _RUNNING, segment.begin, end)
    for kernel in kernels:
        number = index.at(kernel.launched)
        if number is not None and kernel.segment.end > kernel.segment.begin:
            usage = _count(found[number], kernel.segment, kernel.segment.end)
            add(found[number], usage, _KERNEL, kernel.segment.begin, kernel.segment.end)
    _sweep(sorted(edges), work)
    return found


def _count(time: CallTime, segment: Segment, end: int) -> Usage:
    usage = time.usage.setdefault(segment.key, Usage())
    usage.runs += segment.begins
    if not segment.waits:
        usage.busy += end - segment.begin
    return usage


def _sweep(edges: list[tuple[int, int, int]], work: list[tuple[CallTime, Usage | None, int]]) -> None:
    open_now: tuple[set[int], ...] = (set(), set(), set(), set())
    moment = edges[0][0] if edges else 0
    for at, opens, number in edges:
        if at > moment:
            group = next((group for group in open_now if group), None)
            part = (at - moment) / len(group) if group else 0.0
            for item in group or ():
                time, usage, _ = work[item]
                time.wall += part
                if usage is None:
                    time.idle += part
                else:
                    usage.wall += part
            moment = at
        if opens:
            open_now[work[number][2]].add(number)
        else:
            open_now[work[number][2]].discard(number)
