"""When an accelerator did nothing, and what it waited for.

Each gap between two pieces of work ends with the next one. Had the host launched that before the gap began, it was
queued: a gap no longer than a launch takes is what passes between any two kernels, a longer one is another stream's.
Else the gap up to the launch is the host's, and what the host's threads were at explains it, in the order of ``Doing``;
from the launch on it is the launch's. If launches are not in the trace, a gap no longer than a launch takes is the
launch's, and any other the host's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfperfkit.offers.recorded_trace import BETWEEN, QUEUED, UNKNOWN, Doing, HostRow
from tfperfkit.reading.activity import Activity
from tfperfkit.reading.host import HostActivity, is_waiting, keep
from tfperfkit.reading.numbers import LAUNCH_PS
from tfperfkit.reading.steps import Step
from tfperfkit.reading.tracks import HostTrace
from tfperfkit.xplane.columns import Ints
from tfperfkit.xplane.intervals import NONE, Spans, covered, gaps, in_order, union, within

CAUSES = (*(doing.value for doing in Doing), BETWEEN, QUEUED, UNKNOWN)


class Idle(NamedTuple):
    """All in ps. ``causes_ps`` add up to ``idle_ps``. ``of_host``: the idle moments that are the host's."""

    window: Spans
    busy_ps: int
    idle_ps: int
    causes_ps: dict[str, int]
    of_host: Spans


def window_of(device: Activity, steps: tuple[Step, ...]) -> Spans:
    """Return the steps; without them, from the first of the device's work to its last."""
    if steps:
        return union([Spans(np.array([s.begin for s in steps], np.int64), np.array([s.end for s in steps], np.int64))])
    return Spans(device.begin[:1], np.array([device.end.max()], np.int64)) if len(device.begin) else NONE


def explain(device: Activity, host: HostActivity | None, window: Spans) -> Idle:
    """Split the device's idle time within the window by what it waited for."""
    if not len(window):
        return Idle(window, 0, 0, {}, NONE)
    free = within(gaps(device.busy(), int(window.begin[0]), int(window.end[-1])), window)
    of_host, launching, queued = _split(device, host, free)
    short = queued.end - queued.begin <= LAUNCH_PS.value
    between = int((queued.end - queued.begin)[short].sum())
    causes = {BETWEEN: between, QUEUED: queued.total - between, Doing.LAUNCH.value: launching.total}
    explained = NONE
    before = 0
    for doing in Doing:
        spans = host.spans.get(doing) if host is not None else None
        if spans is None:
            continue
        explained = union([explained, spans])
        now = int(covered(explained, of_host.begin, of_host.end).sum())
        causes[doing.value] = causes.get(doing.value, 0) + now - before
        before = now
    causes[UNKNOWN] = of_host.total - before
    idle = free.total
    return Idle(
        window, window.total - idle, idle, {cause: causes[cause] for cause in CAUSES if causes.get(cause)}, of_host
    )


def _split(device: Activity, host: HostActivity | None, free: Spans) -> tuple[Spans, Spans, Spans]:
    """Return the idle spans that are the host's, a launch's, and queued."""
    following = np.minimum(np.searchsorted(device.begin, free.end), len(device.begin) - 1)
    is_start = device.begin[following] == free.end
    launched = _launched(host, device.correlation[following]) if host is not None else np.full(len(free), -1, np.int64)
    known = is_start & (launched >= 0)
    short = (free.end - free.begin) <= LAUNCH_PS.value
    queued = known & (launched <= free.begin)
    # A launch that seems to come after what it launched: two clocks that differ a little.
    at = np.where(known, np.clip(launched, free.begin, free.end), np.where(is_start & short, free.begin, free.end))
    of_host, launching = ~queued & (at > free.begin), ~queued & (at < free.end)
    return (
        Spans(free.begin[of_host], at[of_host]),
        Spans(at[launching], free.end[launching]),
        Spans(free.begin[queued], free.end[queued]),
    )


def _launched(host: HostActivity, correlation: Ints) -> Ints:
    """When the host launched the work of these numbers; -1 where that is not recorded."""
    if not len(host.correlation):
        return np.full(len(correlation), -1, np.int64)
    place = np.minimum(np.searchsorted(host.correlation, correlation), len(host.correlation) - 1)
    return np.where((host.correlation[place] == correlation) & (correlation >= 0), host.launched[place], -1)


_MAX_ROWS = 20


def host_frames(trace: HostTrace, idle: Spans, idle_ps: int) -> tuple[HostRow, ...]:
    """List Python functions and runtime events by the accelerator's idle time in which each was innermost on a thread.

    If several threads run the same, the one that ran it longest counts: they wait for one another.
    """
    sums: dict[str, int] = {}
    for track in trace.host_tracks(keep):
        if not len(track):
            continue
        inside = covered(idle, track.begin_ps, track.begin_ps + track.duration_ps)
        there = np.flatnonzero(inside > 0)
        if not len(there):
            continue
        begin, duration, kinds, inside = (
            track.begin_ps[there],
            track.duration_ps[there],
            track.kind[there],
            inside[there],
        )
        order = in_order(begin, duration)
        if order is not None:
            begin, duration, kinds, inside = begin[order], duration[order], kinds[order], inside[order]
        own = _own_times(begin, duration, inside)
        distinct, inverse = np.unique(kinds, return_inverse=True)
        for kind, ps in zip(distinct.tolist(), np.bincount(inverse, weights=own).tolist(), strict=True):
            name = track.name_of(kind)
            if not is_waiting(name):
                name = name.lstrip("$").partition("<")[0] if name.startswith("void ") else name.lstrip("$")
                sums[name] = max(sums.get(name, 0), int(ps))
    rows = sorted(((name, ps) for name, ps in sums.items() if ps > 0), key=lambda item: -item[1])[:_MAX_ROWS]
    return tuple(HostRow(what=name, idle_ms=ps / 1e9, share=min(ps / max(idle_ps, 1), 1.0)) for name, ps in rows)


def _own_times(begin: Ints, duration: Ints, inside: Ints) -> list[int]:
    """Return the own time of each event: without the events within it."""
    own = inside.tolist()
    starts, lengths, weights = begin.tolist(), duration.tolist(), inside.tolist()
    ends: list[int] = []
    around: list[int] = []
    for index, start in enumerate(starts):
        while ends and start >= ends[-1]:
            ends.pop()
            around.pop()
        if ends:
            own[around[-1]] -= weights[index]
        ends.append(start + lengths[index])
        around.append(index)
    return [max(each, 0) for each in own]
