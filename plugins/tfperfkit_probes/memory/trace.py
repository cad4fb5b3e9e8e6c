"""TensorFlow's allocators in a profiler trace of the same run: their highest point, and the operations behind it."""

from __future__ import annotations

from pathlib import Path

from tfperfkit.errors import Unavailable
from tfperfkit.storage.safe_reader import trace_files
from tfperfkit.xplane import Space, open_space
from tfperfkit.xplane.names import ALLOCATION, HOST, Kind
from tfperfkit.xplane.tracks import read_tracks
from tfperfkit_probes.memory.model import Allocator, OpMemory

_NUMBERS = ("addr", "allocation_bytes", "requested_bytes", "bytes_allocated", "peak_bytes_in_use")
_MAX_OPS = 10
#: More events than this are not replayed: that is a trace of many hundred steps.
MAX_EVENTS = 2_000_000


def read_allocators(trace_dir: Path) -> tuple[Allocator, ...]:
    """From the newest trace below; empty without one, without such events, or when it can't be read."""
    path = _newest(trace_dir)
    if path is None:
        return ()
    try:
        with open_space(path) as space:
            return allocators(space)
    except Unavailable:
        return ()  # tfprof says what is wrong with it


def gpu_limits(trace_dir: Path) -> dict[str, int]:
    """The memory of each GPU ("GPU:0", bytes) where the trace tells it."""
    path = _newest(trace_dir)
    found: dict[str, int] = {}
    if path is None:
        return found
    try:
        with open_space(path) as space:
            for plane in space.devices():
                size = plane.stats.get("memory_size")
                if isinstance(size, int) and size > 0:
                    found[plane.name.removeprefix("/device:").partition(" ")[0]] = size
    except Unavailable:
        pass
    return found


def allocators(space: Space) -> tuple[Allocator, ...]:
    """One row for each allocator, the highest peak first. Replays what was allocated and freed in order of time."""
    events = sorted(_events(space), key=lambda item: item[0])
    by_name: dict[str, list[_Change]] = {}
    for _, name, change in events:
        by_name.setdefault(name, []).append(change)
    rows = [_replay(name, changes) for name, changes in by_name.items()]
    return tuple(sorted(rows, key=lambda row: (-row.peak_in_trace_bytes, row.name)))


#: (whether it allocates, address, bytes, operation, bytes of the allocator in use after it, its peak)
_Change = tuple[bool, int, int, str, int, int]


def _events(space: Space) -> list[tuple[int, str, _Change]]:
    found: list[tuple[int, str, _Change]] = []
    plane = space.plane(HOST)
    if plane is None:
        return found
    tracks = read_tracks(plane)
    allocates = [name == ALLOCATION for name in tracks.names]
    for track in tracks.lines():
        which = track.where(tracks.flag_kinds({Kind.MEMORY}))[: MAX_EVENTS - len(found)]
        if not len(which):
            continue
        numbers = [[number or 0 for number in track.numbers(stat, which)] for stat in _NUMBERS]
        texts = track.texts(("allocator_name", "tf_op"), which)
        rows = zip(track.events(which), texts, *numbers, strict=True)
        for (begin, _, code), (allocator, op), address, size, asked, in_use, peak in rows:
            change = (allocates[code], address, size or asked, op or "?", in_use, peak)
            found.append((begin, allocator or "?", change))
    return found


def _replay(name: str, changes: list[_Change]) -> Allocator:
    peak_at = max(range(len(changes)), key=lambda index: changes[index][4])
    alive: dict[int, tuple[str, int]] = {}
    for allocates, address, size, op, _, _ in changes[: peak_at + 1]:
        if allocates:
            alive[address] = (op, size)
        else:
            alive.pop(address, None)
    sums: dict[str, list[int]] = {}
    for op, size in alive.values():
        entry = sums.setdefault(op, [0, 0])
        entry[0] += size
        entry[1] += 1
    ranked = sorted(sums.items(), key=lambda item: (-item[1][0], item[0]))
    return Allocator(
        name=name,
        peak_in_trace_bytes=changes[peak_at][4],
        peak_bytes=max(change[5] for change in changes) or None,
        allocations=sum(change[0] for change in changes),
        ops=tuple(OpMemory(op=op, bytes=size, allocations=count) for op, (size, count) in ranked[:_MAX_OPS]),
    )


def _newest(trace_dir: Path) -> Path | None:
    return max(trace_files(trace_dir), default=None)
