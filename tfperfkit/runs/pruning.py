"""Which runs to remove, and their removal. Only what is a run of ours is touched, and never one that still runs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tfperfkit.errors import UsageError
from tfperfkit.runs.listing import Run

_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_SIZES = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
#: A run whose script was never seen to end is left alone for so long: it may still train.
MAYBE_RUNNING_S = 7 * 86_400


#: Statuses in a summary of a run that has ended.
_ENDED = ("finished", "failed", "killed", "interrupted")


class Doomed(NamedTuple):
    run: Run
    bytes: int


def age(text: str) -> float:
    """Seconds in ``30d``, ``12h``. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no age: 30d, 12h, 8w")
    return int(match[1]) * _AGES[match[2]]


def size(text: str) -> float:
    """Bytes in ``10GB``, ``500 MB``. Raises UsageError."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)\s*([KMGT]?B|)", text.strip().upper())
    if match is None:
        raise UsageError(f"{text!r} is no size: 10GB, 500MB")
    return float(match[1]) * _SIZES[match[2]]


def doomed(
    folder: Path, runs: Sequence[Run], now: float, older_s: float | None, larger: float | None = None
) -> list[Doomed]:
    """Return the runs to remove, the oldest first: those older than ``older_s``, and of the rest the oldest, until what
    is left takes no more than ``larger`` bytes."""
    oldest_first = sorted(runs, key=lambda run: (run.started, run.name))
    sizes = {run.name: taken(folder / run.name) for run in oldest_first}
    left = sum(sizes.values())
    found = []
    for run in oldest_first:
        if run.status == "damaged" or (run.status not in _ENDED and _may_run(folder / run.name, run, now)):
            continue
        too_old = older_s is not None and now - run.started > older_s
        if too_old or (larger is not None and left > larger):
            found.append(Doomed(run, sizes[run.name]))
            left -= sizes[run.name]
    return found


def _may_run(folder: Path, run: Run, now: float) -> bool:
    return not os.path.lexists(folder / "exit.json") and now - run.started < MAYBE_RUNNING_S


def taken(folder: Path) -> int:
    """Bytes of the files below a folder; links count nothing."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total


def remove(folder: Path, which: Iterable[Doomed]) -> int:
    """Remove them; gives how many are gone. No link is followed. Raises UsageError at the first that can't be."""
    count = 0
    for each in which:
        place = folder / each.run.name
        if place.is_symlink() or not (place / "run.json").is_file():
            continue
        try:
            shutil.rmtree(place)
        except OSError as error:
            raise UsageError(f"can't remove {place}: {error.strerror or error} ({count} removed before it)") from error
        count += 1
    return count
