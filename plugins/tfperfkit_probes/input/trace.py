"""tf.data in a profiler trace of the same run: own time of each stage, and how long its end was waited for."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np

from tfperfkit.errors import Unavailable
from tfperfkit.storage.safe_reader import trace_files
from tfperfkit.xplane import open_space
from tfperfkit.xplane.intervals import Ints
from tfperfkit.xplane.names import HOST
from tfperfkit.xplane.nesting import around
from tfperfkit.xplane.tracks import Track, Tracks, read_tracks

_PREFIX = "Iterator::"
#: A loop over a dataset in a compiled function is a reduction for TensorFlow; AutoGraph puts its body into a stage.
_REDUCED, _BODY = "ReduceIterator::", "::Scan"
_TURN = re.compile(r"\[\d+\]")
_PS_PER_MS = 1_000_000_000


class TracedPipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Iterators with the same stages. ``stages``: by path below the root, from the end to the source (what interleave
    runs several times is one): (name, own ms, elements, nested). ``wait_ms`` and ``fetches`` are of the end."""

    stages: tuple[tuple[str, float, int, bool], ...]
    wait_ms: float
    fetches: int
    wall_ms: float = 0.0


#: Nodes of all pipelines together; a real program has some dozens.
_MAX_NODES = 5000


class _Sum:
    def __init__(self) -> None:
        self.total = self.own = self.count = self.begin = self.end = 0
        self.parent: int | None = None
        self.path = ""


def read_trace(trace_dir: Path) -> tuple[TracedPipeline, ...]:
    """From the newest trace below; empty without one or when it can't be read."""
    found = trace_files(trace_dir)
    if not found:
        return ()
    try:
        with open_space(found[-1]) as space:
            plane = space.plane(HOST)
            sums: dict[int, _Sum] = {}
            if plane is not None:
                _read(read_tracks(plane), sums)
    except Unavailable:
        return ()  # tfprof says what is wrong with it
    return _pipelines(sums)


def _read(tracks: Tracks, sums: dict[int, _Sum]) -> None:
    """The events of each thread: those inside of others took part of the others' time."""
    wanted = np.array([name.startswith((_PREFIX, _REDUCED)) for name in tracks.names])
    for track in tracks.lines():
        which = track.where(wanted)
        iterators = track.integers("id", which)
        which, iterators = which[iterators != -1], iterators[iterators != -1]
        if not len(which):
            continue
        iterators, first, number = np.unique(iterators, return_index=True, return_inverse=True)
        entries: list[_Sum | None] = [None] * len(iterators)
        for index in np.argsort(first).tolist():
            iterator = int(iterators[index])
            if iterator in sums or len(sums) < _MAX_NODES:
                entries[index] = sums.setdefault(iterator, _Sum())
        is_kept = np.array([entry is not None for entry in entries])[number]
        _add(tracks, track, which[is_kept], number[is_kept], entries)


def _add(tracks: Tracks, track: Track, which: Ints, number: Ints, entries: list[_Sum | None]) -> None:
    """Add events to the entries that they are of by ``number``."""
    begin, end = track.begin_ps[which], track.end_ps[which]
    length = end - begin
    outer = around(begin, end, np.ones(len(which), dtype=bool))
    total, inner = np.zeros(len(entries), dtype=np.int64), np.zeros(len(entries), dtype=np.int64)
    np.add.at(total, number, length)
    np.add.at(inner, number[outer[outer >= 0]], length[outer >= 0])
    latest = np.zeros(len(entries), dtype=np.int64)
    np.maximum.at(latest, number, end)
    count = np.bincount(number, minlength=len(entries))
    # If an assignment has several values for one place, the last one stays.
    earliest, path, parent = (np.full(len(entries), -1, dtype=np.int64) for _ in range(3))
    earliest[number[::-1]] = begin[::-1]
    path[number] = track.code[which]
    parents = track.integers("parent_id", which)
    parent[number[parents != -1]] = parents[parents != -1]
    for index, entry in enumerate(entries):
        if entry is not None:
            entry.begin = min(entry.begin, int(earliest[index])) if entry.count else int(earliest[index])
            entry.end = max(entry.end, int(latest[index]))
            entry.total += int(total[index])
            entry.own += int(total[index] - inner[index])
            entry.count += int(count[index])
            entry.path = tracks.names[path[index]].partition("#")[0]
            entry.parent = int(parent[index]) if parent[index] != -1 else entry.parent


def _pipelines(sums: dict[int, _Sum]) -> tuple[TracedPipeline, ...]:
    by_root: dict[int, dict[str, list[_Sum]]] = {}
    for number, entry in sums.items():
        root, seen = number, set()
        while (parent := sums[root].parent) is not None and parent in sums and root not in seen:
            seen.add(root)
            root = parent
        by_root.setdefault(root, {}).setdefault(entry.path, []).append(entry)
    grouped: dict[tuple[str, ...], list[dict[str, list[_Sum]]]] = {}
    for found in by_root.values():
        paths = _without_loop(found)
        if f"{_PREFIX}Root" in paths:
            named: dict[str, list[_Sum]] = {}
            for path, entries in paths.items():
                named.setdefault(_TURN.sub("*", path), []).extend(entries)
            top = tuple(sorted(path for path in named if "*" not in path and not path.endswith("Impl")))
            grouped.setdefault(top, []).append(named)
    return tuple(_joined(group) for group in grouped.values())


def _without_loop(paths: dict[str, list[_Sum]]) -> dict[str, list[_Sum]]:
    """Return the source of a reduction's elements without the loop around it, as if the script iterated over that
    source.
    """
    reduced = sorted((path for path in paths if path.startswith(_REDUCED)), key=len)
    if not reduced:
        return paths
    loop = next((path for path in reduced if path.endswith(_BODY)), None) or f"{_REDUCED}Root"
    inside = {path[len(loop) + 2 :]: sums for path, sums in paths.items() if path.startswith(f"{loop}::")}
    ends = [item for path, sums in inside.items() if "::" not in path for item in sums]
    return {f"{_PREFIX}Root": ends, **{f"{_PREFIX}Root::{path}": sums for path, sums in inside.items()}}


def _joined(group: list[dict[str, list[_Sum]]]) -> TracedPipeline:
    paths: dict[str, list[_Sum]] = {}
    for named in group:
        for path, entries in named.items():
            paths.setdefault(path, []).extend(entries)
    root = paths.pop(f"{_PREFIX}Root")
    ordered = _ordered(f"{_PREFIX}Root", sorted(paths))
    return TracedPipeline(
        stages=tuple(
            (
                path.rpartition("::")[2].rstrip("*"),
                sum(item.own for item in paths[path]) / _PS_PER_MS,
                sum(item.count for item in paths[path]),
                "*" in path,
            )
            for path in ordered
        ),
        wait_ms=sum(item.total for item in root) / _PS_PER_MS,
        fetches=sum(item.count for item in root),
        wall_ms=(max(item.end for item in root) - min(item.begin for item in root)) / _PS_PER_MS if root else 0.0,
    )


def _ordered(parent: str, paths: list[str]) -> list[str]:
    """From the end to the sources.

    Put the stages that run inside a stage before the stage's own input, as in the model.
    """
    children = [path for path in paths if path.rpartition("::")[0].rstrip("*") == parent]
    found: list[str] = []
    for path in sorted(children, key=lambda path: not path.rpartition("::")[0].endswith("*")):
        found += [path, *_ordered(path, paths)]
    return found
