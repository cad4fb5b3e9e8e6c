"""``service.json``: where a run's process can be asked for a trace, as ``tfperf run --profiler-service`` offers it."""

from __future__ import annotations

from typing import Literal

import msgspec

SERVICE = "service.json"
#: Programs that may ask: those of the same machine, or of every machine that reaches it.
OnDemand = Literal["loopback", "network"]


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """TensorFlow's profiler service of a process. ``machine``: by ``clock.this_machine``; ``host``: its name."""

    port: int
    open_to: OnDemand
    machine: str
    host: str
    pid: int
    started_ticks: int | None = None
