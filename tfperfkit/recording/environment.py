"""Facts about the process and the machine, read without initialising TensorFlow, and what the system kept from the
script: CPU time that the quota of its control group refused, memory in swap (Linux, at the start and the end)."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from tfperfkit import native
from tfperfkit.clock import now_ns, start_ticks, this_machine
from tfperfkit.storage.descriptors import read_file
from tfperfkit.storage.run_directory import Manifest

_PACKAGES = ("tensorflow", "keras", "tf_keras", "numpy")


def agent_facts(manifest: Manifest, extra: dict[str, Any]) -> dict[str, Any]:
    """Return the facts after TensorFlow's import: versions, machine, times, why Python does C code's work."""
    process: dict[str, Any] = {"pid": os.getpid(), "started_ticks": start_ticks(), "machine": this_machine()}
    process.update({"argv": sys.argv, "armed_ns": now_ns()})
    process["by_python"] = native.missing()
    return {**process, "versions": versions(), **machine(), "pressure": pressure(), **extra}


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the script has loaded."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            found[name] = version
    return found


def processors() -> int:
    """Return how many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def machine() -> dict[str, Any]:
    """Processors that this process may use, and the platform."""
    return {"cpus": processors(), "platform": platform.platform(terse=True)}


def end_facts() -> dict[str, Any]:
    """Return the facts at the end: versions again (Keras may have come late), devices if the script woke them,
    peak memory of the process in bytes, processor time of the children that have ended in seconds."""
    facts: dict[str, Any] = {"versions": versions(), "pressure": pressure()}
    try:
        import resource

        facts["peak_rss_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        facts["children_cpu_s"] = ended.ru_utime + ended.ru_stime
    except ImportError:  # not on Windows
        pass
    context = sys.modules.get("tensorflow.python.eager.context")
    try:
        if context is not None and context.context()._initialized:
            facts["devices"] = [device.name for device in context.context().list_logical_devices()]
    except Exception:
        pass
    return facts


_GROUPS = "/sys/fs/cgroup"


def pressure() -> dict[str, Any]:
    """``throttled_ns``: how long the control group's processes have been held back; ``quota_cpus``: CPU cores that its
    quota allows; ``swapped_bytes`` of this process; ``major_faults``: pages that were read from a disk."""
    found: dict[str, Any] = {}
    for folder in _folders():
        throttled, quota = _throttled_ns(folder), _quota(folder)
        if quota is not None:  # the innermost group that has one
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
    """List the control groups that may have a quota, the innermost first. In a container the host's paths may not
    exist; then the root of the mount is the container's own."""
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
    """Return the quota in CPU cores; None if there is none."""
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
