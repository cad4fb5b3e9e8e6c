"""Accelerators in a profiler trace of the same run: how long each was busy, and what was copied to and from it."""

from __future__ import annotations

import re
from pathlib import Path

from tfperfkit.errors import Unavailable
from tfperfkit.storage.safe_reader import trace_files
from tfperfkit.xplane import Space, open_space
from tfperfkit.xplane.spans import total, union
from tfperfkit_probes.devices.model import AcceleratorRow, TransferRow
from tfperfkit_probes.tfprof.ops import OpKey, OpTime, read_device

_PS_PER_MS = 1_000_000_000
_KIND = re.compile(r"mem(?:cpy|ory\s*copy)\W*(H2D|D2H|D2D|P2P|HtoD|DtoH|DtoD|PtoP)?", re.IGNORECASE)
_BUFFER = re.compile(r"copyBuffer", re.IGNORECASE)  # a copy within the memory of an AMD card, done by a kernel
_SIZE = re.compile(r"(?:size|num_bytes):\s*(\d+)")


def read_trace(trace_dir: Path) -> tuple[tuple[AcceleratorRow, ...], tuple[TransferRow, ...]]:
    """From the newest trace below; empty without one, without accelerators in it, or when it can't be read."""
    found = trace_files(trace_dir)
    if not found:
        return (), ()
    try:
        with open_space(found[-1]) as space:
            return accelerators(space), transfers(space)
    except Unavailable:
        return (), ()  # tfprof says what is wrong with it


def accelerators(space: Space) -> tuple[AcceleratorRow, ...]:
    """One row for each plane of a GPU that did something."""
    rows = []
    for plane in space.devices():
        ops: dict[OpKey, OpTime] = {}
        busy = total(union(read_device(plane, None, ops)))
        if busy:
            kernels = sum(op.count for op in ops.values())
            rows.append(AcceleratorRow(device=_name(plane.name), busy_ms=busy / _PS_PER_MS, kernels=kernels))
    return tuple(rows)


def transfers(space: Space) -> tuple[TransferRow, ...]:
    """Copies by device and direction. The size is what the trace says of each; 0 where it says nothing."""
    sums: dict[tuple[str, str], list[int]] = {}
    for plane in space.devices():
        for line in plane.lines():
            for event in line.events(lambda name: bool(_KIND.match(name) or _BUFFER.search(name))):
                match = _KIND.match(event.name)
                kind = ((match.group(1) or "other") if match else "D2D").upper().replace("TO", "2")
                entry = sums.setdefault((_name(plane.name), kind), [0, 0, 0])
                size = _SIZE.search(str(event.stats.get("memcpy_details", "")))
                entry[0] += event.occurrences
                entry[1] += int(size.group(1)) if size else 0
                entry[2] += event.duration_ps
    return tuple(
        TransferRow(device=device, kind=kind, count=count, bytes=size, ms=duration / _PS_PER_MS)
        for (device, kind), (count, size, duration) in sorted(sums.items())
    )


def _name(plane: str) -> str:
    return plane.removeprefix("/device:").partition(" ")[0]
