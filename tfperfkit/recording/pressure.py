"""What the system kept from the script: processor time that its control group's quota refused, memory in swap.

Read from the kernel's files on Linux, at the start and at the end; elsewhere nothing is known.
"""

from __future__ import annotations

import os
from typing import Any

from tfperfkit.storage.descriptors import read_file

_GROUPS = "/sys/fs/cgroup"


def pressure() -> dict[str, Any]:
    """``throttled_ns``: how long the control group's processes were held back, so far; ``quota_cpus``: the processors
    that its quota is worth; ``swapped_bytes``: of this process; ``major_faults``: pages that were read from a disk."""
    found: dict[str, Any] = {}
    for folder in _folders():
        throttled, quota = _throttled_ns(folder), _quota(folder)
        if quota is not None:  # of nested groups the innermost that has one
            found.update(quota_cpus=quota, throttled_ns=throttled or 0)
            break
    swapped = _field("/proc/self/status", "VmSwap:")
    if swapped is not None:
        found["swapped_bytes"] = swapped * 1024
    try:
        import resource

        found["major_faults"] = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
    except ImportError:  # not on Windows
        pass
    return found


def _folders() -> list[str]:
    """The control groups that may hold a quota, the innermost first. In a container the paths of the host may not
    exist: then the root of what is mounted is the container's own."""
    found: list[str] = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = (line.split(":", 2) + ["", "", ""])[:3]
        if controllers == "" or "cpu" in controllers.split(","):
            root = _GROUPS if controllers == "" else f"{_GROUPS}/cpu"
            while path not in ("", "/"):
                found.append(root + path)
                path = os.path.dirname(path)
            found.append(root)
    return found


def _throttled_ns(folder: str) -> int | None:
    microseconds = _field(f"{folder}/cpu.stat", "throttled_usec")
    return microseconds * 1000 if microseconds is not None else _field(f"{folder}/cpu.stat", "throttled_time")


def _quota(folder: str) -> float | None:
    """In processors; None where there is none."""
    words = _read(f"{folder}/cpu.max").split() or [
        _read(f"{folder}/cpu.cfs_quota_us").strip(),
        _read(f"{folder}/cpu.cfs_period_us").strip(),
    ]
    try:
        quota, period = int(words[0]), int(words[1])
    except (ValueError, IndexError):
        return None
    return quota / period if quota > 0 and period > 0 else None


def _field(path: str, name: str) -> int | None:
    for line in _read(path).splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return None


def _read(path: str) -> str:
    try:
        return read_file(path).decode("ascii", "replace")
    except OSError:
        return ""
