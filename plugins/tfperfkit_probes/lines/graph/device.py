"""The kernels of accelerators: which operation each worked for, and when the host asked for it.

A kernel names its operation itself (``tf_op``: ``name:Type``; ``hlo_op`` and ``hlo_module`` under XLA), or the driver's
call that launched it does, which carries the same ``correlation_id``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.xplane import Space, StatValue
from tfperfkit.xplane.names import DERIVED_LINES, HOST
from tfperfkit.xplane.spans import Span, SpanIndex
from tfperfkit_probes.lines.graph.account import Kernel
from tfperfkit_probes.lines.graph.trace import Key, Segment


class _Launch(NamedTuple):
    at: int
    key: Key | None


def read_kernels(space: Space, window: list[Span]) -> Iterator[Kernel]:
    """The kernels launched or run in the window. One that names no operation goes by its own name."""
    devices = space.devices()
    if not devices:
        return
    launches = _launches(space)
    inside = SpanIndex(window)
    for plane in devices:
        for line in plane.lines():
            if line.name in DERIVED_LINES:
                continue
            for event in line.events():
                if not event.duration_ps:
                    continue
                stats = event.stats
                launch = launches.get(stats.get("correlation_id"))
                at = launch.at if launch is not None else event.begin_ps
                if at not in inside:
                    continue
                key = operation(stats) or (launch.key if launch is not None else None) or Key(event.name, "kernel")
                yield Kernel(Segment(event.begin_ps, event.end_ps, key, False), at)


def operation(stats: dict[str, StatValue]) -> Key | None:
    """Return the operation that a kernel works for, by its own stats or those of its launch."""
    instruction, module = stats.get("hlo_op"), stats.get("hlo_module")
    if isinstance(instruction, str) and isinstance(module, str):
        return Key(instruction, "XLA", module)
    name, _, kind = str(stats.get("tf_op", "")).rpartition(":")
    return Key(name, kind) if name and kind else None


def _launches(space: Space) -> dict[StatValue | None, _Launch]:
    found: dict[StatValue | None, _Launch] = {}
    plane = space.plane(HOST)
    if plane is None or "correlation_id" not in plane.stat_ids:
        return found
    for line in plane.lines():
        for event in line.events():
            number = event.stat("correlation_id")
            if number is not None:
                found[number] = _Launch(event.begin_ps, operation(event.stats))
    return found
