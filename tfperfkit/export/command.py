"""``tfperf export RUN``: one timeline of everything, or the Python samples for speedscope."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from tfperfkit import registry
from tfperfkit.analysis.stored_run import StoredRun, open_run
from tfperfkit.config import find_run
from tfperfkit.errors import ProbeError, Unavailable, UsageError
from tfperfkit.export import samples as sampled
from tfperfkit.export import tracks
from tfperfkit.export.chrome import ChromeTrace
from tfperfkit.records.plural import plural
from tfperfkit.report.terminal import is_quiet
from tfperfkit.report.text import one_line
from tfperfkit.timeline import Timeline, TimelineProbe
from tfperfkit.version import __version__

#: Maximum number of the probes' slices together. With ours a file stays below about 20 MB, and Perfetto opens it in
#: seconds.
MAX_SLICES = 500_000
#: Seconds before a progress line is shown, and between its changes.
_PATIENCE_S, _REFRESH_S = 0.5, 0.2
#: How names of files end, by viewer.
_ENDINGS = {"perfetto": ".trace.json.gz", "speedscope": ".speedscope.json"}


def export(name: str, viewer: str, out: str | None) -> None:
    """Write the file for ``perfetto`` or ``speedscope`` and print what is in it. Raises RunDirectoryError or
    UsageError."""
    run = open_run(find_run(name))
    target = Path(out) if out else Path(run.directory.path.resolve().name + _ENDINGS[viewer])
    if target.exists() and not target.is_file():
        raise UsageError(f"{target} is a {'folder' if target.is_dir() else 'device'}: name a file with -o")
    (_write_samples if viewer == "speedscope" else _write_timeline)(run, target)


def _write_samples(run: StoredRun, target: Path) -> None:
    stacks = sampled.read(run.directory.records("session/samples.jsonl"))
    if not stacks.taken:
        raise UsageError(f"the run {run.directory.path.name} has no Python samples")
    with _replacing(target) as file:
        file.write(msgspec.json.encode(sampled.speedscope(stacks, _title(run), __version__, run.manifest.started_ns)))
    _say(f"samples   {target} ({_size(target)}, {plural(stacks.taken, 'sample')}): for https://www.speedscope.app")


def _write_timeline(run: StoredRun, target: Path) -> None:
    progress = _Progress()
    timelines, notes = _timelines(run, progress)
    started = run.manifest.started_ns
    stacks = sampled.read(run.directory.records("session/samples.jsonl"))
    if not (run.steps.steps or stacks.taken or timelines):
        raise UsageError(f"the run {run.directory.path.name} holds nothing that a timeline could show{_why(notes)}")
    if len(run.steps.steps) > tracks.MAX_STEPS:
        notes.append(f"steps after the first {tracks.MAX_STEPS} are left out")
    if stacks.left_out:
        notes.append(f"the last {stacks.left_out} Python samples are left out")
    about = {"tool": f"tfperfkit {__version__}", "command": run.manifest.argv, "notes": notes}
    with _replacing(target) as file, ChromeTrace(file, started, about, progress.written) as trace:
        for item in (*tracks.steps(run.steps.steps), *tracks.windows(run), *tracks.traces(run)):
            trace.add(item)
        for item in sampled.slices(stacks):
            trace.add(item)
        for timeline in timelines:
            for item in timeline.slices:
                trace.add(item)
    progress.end()
    _say(f"timeline  {target} ({_size(target)}, {trace.count} events): for https://ui.perfetto.dev or chrome://tracing")
    for note in notes:
        _say(f"note      {note}")


def _timelines(run: StoredRun, progress: _Progress) -> tuple[list[Timeline], list[str]]:
    """Return the timelines that the run's probes add, and the reasons why one adds nothing."""
    found: list[Timeline] = []
    notes: list[str] = []
    installed = registry.available()
    for name in run.manifest.probes:
        try:
            probe = registry.load(name, installed)
            if isinstance(probe, TimelineProbe):
                found.append(probe.timeline(run.capture(name, probe), MAX_SLICES, progress.read))
        except (Unavailable, ProbeError) as error:
            notes.append(f"nothing from the probe {name}: {error}")
        except Exception as error:  # a fault of the probe; ours is there all the same
            notes.append(f"nothing from the probe {name}, which failed: {type(error).__name__}: {error}")
    if not found and not notes:
        tracer = registry.tracer()
        hint = f": the probe {tracer} records them (tfperf run --probes {tracer} SCRIPT)" if tracer else ""
        notes.append(f"no operations of TensorFlow{hint}")
    return found, [note for timeline in found for note in timeline.notes] + notes


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """Write a file that appears whole or not at all; raises UsageError when it can't be written."""
    temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}")
    try:
        try:
            with temporary.open("wb") as file:
                yield file
            os.replace(temporary, target)
        except OSError as error:
            raise UsageError(f"can't write {target}: {error.strerror or error}; name another with -o") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _title(run: StoredRun) -> str:
    return " ".join(run.manifest.argv).encode("utf-8", "backslashreplace").decode() or "tfperf"


def _why(notes: list[str]) -> str:
    return f" ({'; '.join(notes)})" if notes else ""


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} KB"


def _say(text: str) -> None:
    """Print a line, if the user wants notices. A terminal gets what can be printed of the names in it."""
    if is_quiet():
        return
    encoding = sys.stdout.encoding or "ascii"
    print(one_line(text).encode(encoding, "backslashreplace").decode(encoding))


class _Progress:
    """A line on a terminal while it takes long; nothing elsewhere."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PATIENCE_S
        self._shown = False

    def read(self, count: int) -> None:
        self._show(f"reading the trace: {count} events")

    def written(self, count: int) -> None:
        self._show(f"writing: {count} events")

    def end(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def _show(self, text: str) -> None:
        wanted = not is_quiet() and sys.stderr is not None and sys.stderr.isatty()
        if wanted and time.monotonic() >= self._next:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
            self._next, self._shown = time.monotonic() + _REFRESH_S, True
