"""The one place where time is read.

All recorded times are integers in nanoseconds of ``now_ns``, a monotonic clock shared by all processes of the
machine (``CLOCK_MONOTONIC``), so that parent and child agree. ``wall_s`` anchors them to the calendar.

The functions are bound at import: a script that replaces ``time.time`` does not change our measurements.
"""

from __future__ import annotations

import time

now_ns = time.monotonic_ns
wall_s = time.time

NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def ms(duration_ns: float) -> float:
    """A duration in nanoseconds, in milliseconds."""
    return duration_ns / NS_PER_MS
