"""``tfperf report TRACE``: a trace that another profiler recorded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tfperfkit.config import find_run, is_run
from tfperfkit.offers.recorded_trace import TraceReport
from tfperfkit.reading import horovod, sources
from tfperfkit.reading.analyse import read as read_trace
from tfperfkit.report.text import one_line
from tfperfkit.storage.addresses import is_address

#: From this size on a user sees that it goes on.
_LARGE_BYTES = 100_000_000
_EACH_BYTES = 20_000_000


def is_trace(name: str) -> bool:
    """Return whether ``tfperf report NAME`` is about a trace, not about a run. Raises what ``find_run`` raises."""
    if is_address(name):
        return sources.is_trace_at_address(name)
    path = find_run(name)
    return path.is_file() or (path.is_dir() and not is_run(path) and sources.holds_trace(path))


def read(path: str, json_file: str | None, everything: bool) -> None:
    """Read the trace at ``path`` and print what it tells; raises ``TfperfError``, one line, for what is no trace."""
    report = _read(path)
    if json_file is not None:
        from tfperfkit.report.json import encode_any

        text = encode_any(report)
        if json_file == "-":
            sys.stdout.buffer.write(text)
            sys.stdout.flush()
            return
        Path(json_file).write_bytes(text)
    from tfperfkit.reading.console import render

    render(report, sys.stdout, everything=everything)


def _read(path: str) -> TraceReport:
    source = sources.find(sources.at_address(path) if is_address(path) else Path(path))
    shown = _Progress(sum(file.stat().st_size for file in source.files))
    try:
        if source.kind == "horovod":
            return horovod.read(source.files[0], path, shown.follow_file(source.files[0]))
        return read_trace(source, path, shown.follow_file)
    except MemoryError:
        from tfperfkit.errors import UsageError

        raise UsageError(f"there is not enough memory to read {path}") from None
    finally:
        shown.end()


class _Progress:
    """One line on stderr for large traces, rewritten in place; nothing through a pipe."""

    def __init__(self, whole: int) -> None:
        self._whole = whole
        self._done = 0
        self._last = 0
        self._on = whole >= _LARGE_BYTES and sys.stderr.isatty()

    def follow_file(self, file: Path) -> Callable[[int], None]:
        """Return the function that shows how far a file has been read, in bytes."""
        before = self._done
        self._done += file.stat().st_size
        return lambda position: self._show_position(file, before + position)

    def _show_position(self, file: Path, position: int) -> None:
        if self._on and position - self._last >= _EACH_BYTES:
            self._last = position
            share = min(100 * position // max(self._whole, 1), 100)
            print(f"\r{one_line(file.name[:40])}: {share} %", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
