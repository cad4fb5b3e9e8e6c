"""The memory of this process, and what limits it: read from the kernel, without a package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.records.memory import Limit
from tfperfkit.storage.descriptors import KeptFile, read_file

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
#: A control group without a limit says "max" (version 2) or a number near 2**63 (version 1).
_NO_LIMIT = 1 << 60


class Resident:
    """Reads the resident memory; some 4 microseconds a reading on Linux.

    ``read()`` gives ``(rss, own, peak, virtual)`` in bytes. ``own`` is the resident memory without pages of files
    and shared memory: libraries that are loaded bit by bit, and mapped data, don't count in it. ``peak`` is the
    highest RSS since the process began. Raises ``Unavailable`` in the constructor where none of this can be read.
    """

    def __init__(self) -> None:
        try:
            import resource
        except ImportError:
            raise Unavailable("this system does not tell the memory of a process") from None
        self._usage: Any = resource.getrusage
        self._self = resource.RUSAGE_SELF
        self._scale = 1 if sys.platform == "darwin" else 1024
        self._file: KeptFile | None = KeptFile("/proc/self/statm", os.O_RDONLY)
        try:
            self._read_words()
        except OSError:
            self._file = None

    @property
    def only_peak(self) -> bool:
        """Return whether the present size can't be read, only the highest so far."""
        return self._file is None

    def read(self) -> tuple[int, int, int, int]:
        """See the class. If only the peak is known, it is used for ``rss`` and ``own`` too; ``virtual`` is 0."""
        peak = self._usage(self._self).ru_maxrss * self._scale
        try:
            if self._file is not None:
                virtual, rss, shared = (int(word) * _PAGE for word in self._read_words()[:3])
                return rss, max(rss - shared, 0), max(peak, rss), virtual
        except (OSError, ValueError):
            pass
        return peak, peak, peak, 0

    def _read_words(self) -> list[bytes]:
        return self._file.look(200).split() if self._file is not None else []

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        self._file = None


def limits(root: Path = Path("/")) -> tuple[Limit, ...]:
    """Return the limits of this process's memory: the machine, its control groups (both versions), ``ulimit -v``."""
    found = []
    meminfo = _meminfo(root)
    if meminfo.get("MemTotal"):
        found.append(
            Limit(
                source="machine",
                limit_bytes=meminfo["MemTotal"],
                free_bytes=meminfo.get("MemAvailable"),
            )
        )
    group = _group_limit(root)
    if group is not None and (not found or group.limit_bytes < found[0].limit_bytes):
        found.append(group)
    try:
        import resource

        soft = resource.getrlimit(resource.RLIMIT_AS)[0]
        if soft not in (resource.RLIM_INFINITY, -1):
            found.append(Limit(source="address space (ulimit -v)", limit_bytes=soft, virtual=True))
    except (ImportError, AttributeError, OSError, ValueError):
        pass
    return tuple(found)


def _meminfo(root: Path) -> dict[str, int]:
    found = {}
    for line in _text(root / "proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            found[name] = int(words[0]) * (1024 if words[-1] == "kB" else 1)
    return found


def _group_limit(root: Path) -> Limit | None:
    """Return the smallest limit of the process's control groups and of those above them."""
    found: list[Limit] = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            base, name, used = root / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            base, name, used = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        parts = [part for part in path.split("/") if part and part != ".."]
        for depth in range(len(parts), -1, -1):  # inside a container only the top may be mounted
            folder = base.joinpath(*parts[:depth])
            value, usage = _text(folder / name).strip(), _text(folder / used).strip()
            if value.isdigit() and int(value) < _NO_LIMIT:
                free = int(value) - int(usage) if usage.isdigit() else None
                found.append(Limit(source="control group", limit_bytes=int(value), free_bytes=free))
    return min(found, key=lambda limit: limit.limit_bytes, default=None)


def _text(path: Path) -> str:
    try:
        return read_file(path).decode("ascii", "replace")
    except OSError:
        return ""


def gpu_memory() -> tuple[tuple[str, int, int], ...]:
    """``(device, bytes in use, peak bytes)`` of TensorFlow's allocator for each GPU; empty before the script has
    woken TensorFlow and without a GPU (asking a CPU raises)."""
    from tfperfkit.instruments.devices import runtime

    if not runtime.initialised():
        return ()
    from tensorflow.python.eager import context as module

    context = module.context()
    found = []
    for name in sorted(runtime.logical_names()):
        if name.startswith("GPU:"):
            info = context.get_memory_info(name)
            found.append((name, int(info["current"]), int(info["peak"])))
    return tuple(found)
