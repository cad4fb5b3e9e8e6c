"""The same script trained by one worker, if such a run is in the same folder: the base for several workers."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from tfperfkit.analysis import summary
from tfperfkit.errors import RunDirectoryError
from tfperfkit.storage.run_directory import Manifest, RunDirectory

#: Maximum number of runs in a folder that are looked at, the newest first.
_MAX = 500


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """A run by one worker. ``efficiency``: the throughput of all, by that of so many single workers; None if the
    examples of a step are not known. ``step_ms``: its median step."""

    run: str
    step_ms: float
    examples_per_s: float | None = None
    efficiency: float | None = None


def alone(folder: Path, part: str, workers: int, examples_per_s: float | None) -> Alone | None:
    """Return the newest finished run of the same script with the same arguments in the same working folder, which is
    next to ``folder`` and was trained by one worker; None without one.

    ``part``: the name of any part.
    """
    try:
        _, manifest = RunDirectory.open(folder / part)
        with os.scandir(folder.parent) as entries:
            beside = [entry for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name != folder.name]
        beside.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime, reverse=True)
    except (OSError, RunDirectoryError):
        return None
    for entry in beside[:_MAX]:
        found = _kept_summary(Path(entry.path), manifest)
        if found is None or not found.step_ms:
            continue
        one = found.examples_per_s
        efficiency = examples_per_s / (one * workers) if examples_per_s and one and workers else None
        return Alone(run=entry.name, step_ms=found.step_ms, examples_per_s=one, efficiency=efficiency)
    return None


def _kept_summary(folder: Path, manifest: Manifest) -> summary.RunSummary | None:
    """Return the summary of a finished run of the same script; None if the folder holds none."""
    found = summary.read(folder)
    if found is None or found.status != "finished":
        return None
    if list(found.argv) != list(manifest.argv) or found.cwd != manifest.cwd:
        return None
    try:
        _, other = RunDirectory.open(folder)
    except RunDirectoryError:
        return None
    return found if other.rank is None else None
