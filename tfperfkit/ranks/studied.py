"""Parts of which nothing was kept: their reports are made, on all processors where they are many."""

from __future__ import annotations

import functools
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tfperfkit.ranks import kept
from tfperfkit.ranks.part import Part, read_part
from tfperfkit.storage.run_directory import RunDirectory

#: A process more takes as long to start as some ten of them.
_FEW = 20
#: Given to a process at a time.
_CHUNK = 5


def studied(folder: Path, names: Sequence[str]) -> dict[str, Part]:
    """The parts by name; each is kept, so that it needs be done once, where its folder can be written."""
    make = functools.partial(_make, folder)
    processes = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, 8)
    if len(names) <= _FEW or processes < 2:
        return dict(zip(names, map(make, names), strict=True))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        return dict(zip(names, pool.map(make, names, chunksize=_CHUNK), strict=True))


def _make(folder: Path, name: str) -> Part:
    part = read_part(folder, name)
    kept.write(RunDirectory(folder / name), part)
    return part
