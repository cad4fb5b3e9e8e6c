"""Several hosts of a run, each by itself: how long its steps are, and what its accelerators waited for."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from tfperfkit.offers.recorded_trace import UNKNOWN, DeviceRow, Doing, HostFacts
from tfperfkit.reading.host import HostActivity
from tfperfkit.reading.steps import Steps
from tfperfkit.xplane.intervals import Spans, covered, union

PS_PER_MS = 1_000_000_000


def facts(hosts: Sequence[HostActivity], found: Steps, devices: Sequence[DeviceRow]) -> tuple[HostFacts, ...]:
    """Return a row for each host, that whose accelerators idle longest first; none where there is one host."""
    if len(hosts) < 2:
        return ()
    rows = []
    for host in hosts:
        used = [row for row in devices if row.host == host.host and row.used]
        lengths = found.lengths_of(host.host)
        rows.append(
            HostFacts(
                host=host.host,
                devices=len(used),
                steps=len(lengths),
                median_ms=statistics.median(lengths) / PS_PER_MS if lengths else None,
                idle_share=sum(row.idle_ms for row in used) / whole if (whole := window(used)) else None,
                waits_share=waits(used),
                doing_share=doing(host, found) if not devices else {},
            )
        )
    return tuple(sorted(rows, key=lambda row: (-(row.idle_share or 0.0), -(row.median_ms or 0.0), row.host)))


def window(devices: Sequence[DeviceRow]) -> float:
    """The examined time of these devices together (ms)."""
    return sum(row.window_ms for row in devices)


def waits(devices: Sequence[DeviceRow]) -> dict[str, float]:
    """Return the reasons for which devices waited, as shares of their windows, the largest first."""
    whole = window(devices) or 1.0
    shares: dict[str, float] = {}
    for row in devices:
        for cause, ms in row.waits_ms.items():
            shares[cause] = shares.get(cause, 0.0) + ms / whole
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def doing(host: HostActivity, found: Steps) -> dict[str, float]:
    """For what share of its steps some thread of a host was at something, and for what share none was; without steps,
    of what was recorded."""
    begins, ends = [step.begin for step in found.of_host(host.host)], [step.end for step in found.of_host(host.host)]
    if not begins:
        begins, ends = [host.first or 0], [host.last]
    spans = union([Spans(np.array(begins, np.int64), np.array(ends, np.int64))])
    if not spans.total:
        return {}
    shares = {
        kind.value: int(covered(host.spans[kind], spans.begin, spans.end).sum()) / spans.total
        for kind in Doing
        if kind in host.spans
    }
    known = union(list(host.spans.values()))
    nothing = 1 - int(covered(known, spans.begin, spans.end).sum()) / spans.total
    return {name: share for name, share in {**shares, UNKNOWN: nothing}.items() if share > 0}
