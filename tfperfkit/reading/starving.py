"""What the host's threads were at while an accelerator waited for the host."""

from __future__ import annotations

import numpy as np

from tfperfkit.reading.host import is_waiting, keep
from tfperfkit.reading.model import HostRow
from tfperfkit.reading.tracks import HostTrace
from tfperfkit.xplane.columns import Ints
from tfperfkit.xplane.intervals import Spans, covered, in_order

_MAX_ROWS = 20


def frames(trace: HostTrace, idle: Spans, idle_ps: int) -> tuple[HostRow, ...]:
    """Functions of Python and events of the runtime by the idle time in which each was a thread's innermost.

    Of several threads at the same the one counts that was at it longest: they wait for one another.
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
        own = _own(begin, duration, inside)
        distinct, inverse = np.unique(kinds, return_inverse=True)
        for kind, ps in zip(distinct.tolist(), np.bincount(inverse, weights=own).tolist(), strict=True):
            name = track.name_of(kind)
            if not is_waiting(name):
                name = name.lstrip("$").partition("<")[0] if name.startswith("void ") else name.lstrip("$")
                sums[name] = max(sums.get(name, 0), int(ps))
    rows = sorted(((name, ps) for name, ps in sums.items() if ps > 0), key=lambda item: -item[1])[:_MAX_ROWS]
    return tuple(HostRow(what=name, idle_ms=ps / 1e9, share=min(ps / max(idle_ps, 1), 1.0)) for name, ps in rows)


def _own(begin: Ints, duration: Ints, inside: Ints) -> list[int]:
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
