"""Writes a report to the terminal, to a file or to a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from tfperfkit.errors import UsageError
from tfperfkit.report.text import one_line


def check_writable(file: str, origin: str) -> None:
    """Raise UsageError if ``file`` can't be written. ``origin`` ends the message: who named the file."""
    path = Path(file)
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file{origin}")
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}; name another file{origin}") from error


@contextmanager
def report_file(path: str | None, default: TextIO | None) -> Iterator[TextIO]:
    """Open the file to report to. Without a ``path``, and with a closed stream (None) as ``default``, show nothing."""
    if not path and default is not None:
        yield default
        return
    try:
        # Line by line: a run that is killed leaves its header.
        file = open(path or os.devnull, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}") from error
    try:
        yield file
    finally:
        with suppress(OSError):  # a full disk; the rendering has said so
            file.close()


def print_report(report: Any, file: TextIO, *, full: bool = False, handle: str = "") -> None:
    """Print the report for a reader, see ``console.render``. Raises OSError, most often BrokenPipeError."""
    from tfperfkit.report.console import render

    try:
        render(report, file=file, full=full, handle=handle)
        file.flush()
    except SystemExit:  # rich exits if the reader has gone; the exit status is not rich's to choose
        _silence(file)
        raise BrokenPipeError from None
    except OSError:
        _silence(file)
        raise


def _silence(file: TextIO) -> None:
    """Discard what the buffer still holds: if it failed again as the interpreter ends, the exit status would be 120."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())


def write_document(document: bytes, target: str | Path) -> None:
    """Write to a file, or to stdout if ``target`` is ``-``. Raises UsageError if the file can't be written."""
    if target == "-":
        sys.stdout.buffer.write(document)
        sys.stdout.flush()
        return
    try:
        Path(target).write_bytes(document)
    except OSError as error:
        raise UsageError(f"can't write {target}: {error.strerror}") from error


def print_notice(text: str) -> None:
    """Print one line of tfperf on stderr, if stderr is open."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(one_line(f"tfperf: {text}"), file=sys.stderr, flush=True)
