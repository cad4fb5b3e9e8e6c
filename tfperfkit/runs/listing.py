"""The runs in a folder, each by its summary, or, where it has none, by its manifest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from tfperfkit.analysis import summary
from tfperfkit.errors import RunDirectoryError, UsageError
from tfperfkit.storage.run_directory import RunDirectory

#: More are not listed: a folder with so many is no runs folder.
MAX_RUNS = 200_000


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the list. ``started``: seconds since 1970; ``status`` "damaged": nothing in it can be read."""

    name: str
    script: str = ""
    started: float = 0.0
    status: str = "unknown"
    wall_s: float = 0.0
    steps: int = 0
    step_ms: float | None = None
    finding: str = ""  # the first one's code
    title: str = ""
    findings: int = 0


def find(folder: Path) -> list[Run]:
    """Return all runs of a folder, the newest first. Raises UsageError if the folder can't be read."""
    return sorted((row(folder, name) for name in names(folder)), key=lambda run: (-run.started, run.name))


def names(folder: Path) -> list[str]:
    """Return the names of the run directories in a folder; links are none."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"can't read the runs folder {folder}: {error.strerror or error}") from error
    return [name for name in found[:MAX_RUNS] if os.path.lexists(folder / name / "run.json")]


def row(folder: Path, name: str) -> Run:
    """One run; whatever is damaged in it is left out."""
    found = summary.read(folder / name)
    if found is None:
        try:
            manifest = RunDirectory.open(folder / name)[1]
        except RunDirectoryError:
            return Run(name=name, status="damaged")
        return Run(name=name, script=_script(manifest.argv), started=manifest.started_wall_s, status="no report yet")
    reported = [finding for finding in found.findings if not finding.is_note]
    return Run(
        name=name,
        script=_script(found.argv),
        started=found.started_wall_s,
        status=found.status,
        wall_s=found.wall_s,
        steps=found.steps,
        step_ms=found.step_ms,
        finding=reported[0].code if reported else "",
        title=reported[0].title if reported else "",
        findings=len(reported),
    )


def _script(argv: Iterable[str]) -> str:
    return next(iter(argv), "").replace("\\", "/").rpartition("/")[2]


_KEYS: dict[str, Callable[[Run], object]] = {
    "when": lambda run: -run.started,
    "name": lambda run: run.name,
    "script": lambda run: run.script,
    "steps": lambda run: -run.steps,
    "step": lambda run: -(run.step_ms or 0.0),
    "wall": lambda run: -run.wall_s,
}


def chosen(runs: Iterable[Run], word: str, key: str) -> list[Run]:
    """Those of which name, script, status, code or title hold the word, sorted by one of ``_KEYS``."""
    word = word.lower()
    texts = ((run, f"{run.name} {run.script} {run.status} {run.finding} {run.title}".lower()) for run in runs)
    return sorted((run for run, text in texts if word in text), key=_KEYS[key])  # type: ignore[arg-type]
