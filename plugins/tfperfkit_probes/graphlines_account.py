"""Dividing the wall time of a call among what ran meanwhile, so that it adds up.

Each moment of a call is counted once. It goes to the operations that run then, in equal parts if several threads
work; if none does, to those that wait (for the input, for a function that they called); else to nothing: the
runtime, gaps between operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tfperfkit_probes.graphlines_trace import Call, CallIndex, Key, Segment


@dataclass
class Usage:
    """What one operation took, in ps: ``wall`` is its part of the calls' time, ``busy`` the sum over threads."""

    wall: float = 0.0
    busy: int = 0
    runs: int = 0


@dataclass
class CallTime:
    """One call: its length, what ran in it, and the part in which nothing did; all in ps."""

    call: Call
    wall: int = 0
    usage: dict[Key, Usage] = field(default_factory=dict)
    idle: float = 0.0


def divide(calls: Sequence[Call], segments: Iterable[Segment]) -> list[CallTime]:
    """The time of each outermost call; segments outside of all calls are left out."""
    index = CallIndex(list(calls))
    found = [CallTime(call, call.end - call.begin) for call in index.calls]
    inside: list[list[Segment]] = [[] for _ in found]
    for segment in segments:
        number = index.at(segment.begin)
        if number is not None:
            inside[number].append(segment)
    for time, parts in zip(found, inside, strict=True):
        _sweep(time, parts)
    return found


def _sweep(time: CallTime, segments: list[Segment]) -> None:
    edges: list[tuple[int, int, int]] = []
    for number, segment in enumerate(segments):
        end = min(segment.end, time.call.end)
        if end > segment.begin:
            edges.append((segment.begin, 1, number))
            edges.append((end, 0, number))
            usage = time.usage.setdefault(segment.key, Usage())
            usage.runs += segment.begins
            if not segment.waits:
                usage.busy += end - segment.begin
    edges.sort()
    running: dict[int, Usage] = {}
    waiting: dict[int, Usage] = {}
    moment = time.call.begin
    for at, opens, number in edges:
        if at > moment:
            _share(time, running or waiting, at - moment)
            moment = at
        segment = segments[number]
        group = waiting if segment.waits else running
        if opens:
            group[number] = time.usage[segment.key]
        else:
            group.pop(number, None)
    if time.call.end > moment:
        time.idle += time.call.end - moment


def _share(time: CallTime, group: dict[int, Usage], span: int) -> None:
    if not group:
        time.idle += span
        return
    part = span / len(group)
    for usage in group.values():
        usage.wall += part
