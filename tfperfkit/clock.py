"""The one place where time is read.

All recorded times are integers in nanoseconds of ``now_ns``, a monotonic clock shared by all processes of the
machine (``CLOCK_MONOTONIC``), so that parent and child agree. ``wall_s`` anchors them to the calendar.

The functions are bound at import: a script that replaces ``time.time`` does not change our measurements.
"""

from __future__ import annotations

import os
import platform
import time

now_ns = time.monotonic_ns
#: Processor time of this process, all threads together, in ns.
process_ns = time.process_time_ns
thread_ns = time.thread_time_ns
wall_s = time.time

MS_PER_S = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def ms(duration_ns: float) -> float:
    """Convert a duration from nanoseconds to milliseconds."""
    return duration_ns / NS_PER_MS


def start_ticks(pid: int | None = None) -> int | None:
    """When a process started, in ticks since the machine's start; None when it is not there (or has ended, and nobody
    has fetched its exit status), or not on Linux."""
    try:
        with open(f"/proc/{os.getpid() if pid is None else pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()  # from field 3 on; the name before may hold anything
        return None if words[0] in (b"Z", b"X") else int(words[19])
    except (OSError, ValueError, IndexError):
        return None


def this_machine() -> str:
    """Its name and what tells this start of it from others; in a container that of the container."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            started = file.read().strip()
    except OSError:
        started = ""
    return f"{platform.node()} {started}".strip()
