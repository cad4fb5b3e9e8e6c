"""Facts about the process and the machine, taken without waking TensorFlow."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from tfperfkit import native
from tfperfkit.clock import now_ns, start_ticks, this_machine
from tfperfkit.recording.pressure import pressure
from tfperfkit.storage.run_directory import Manifest

_PACKAGES = ("tensorflow", "keras", "tf_keras", "numpy")


def agent_facts(manifest: Manifest, extra: dict[str, Any]) -> dict[str, Any]:
    """What is known when TensorFlow has been imported: versions, machine, times, why Python does C code's work."""
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
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def machine() -> dict[str, Any]:
    """Processors that this process may use, and the platform."""
    return {"cpus": processors(), "platform": platform.platform(terse=True)}


def end_facts() -> dict[str, Any]:
    """What can be said at the end: versions again (Keras may have come late), devices if the script woke them,
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
