"""The live view of one run: reads on, and draws once a second, from the supervisor's loop. It never raises."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from tfperfkit.clock import now_ns
from tfperfkit.live.bottom import Bottom, can_draw
from tfperfkit.live.panel import HEIGHT, panel
from tfperfkit.live.progress import Progress
from tfperfkit.report.terminal import terminal_of
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import RECORDS

#: Read at most so many bytes a look, so that the parent takes next to nothing of the script's processors.
_AT_ONCE = 4_000_000


class View:
    """``look`` now and then while the script runs, ``close`` after its end."""

    def __init__(self, folder: Path, file: TextIO | None) -> None:
        self.progress = Progress()
        self._folder = folder
        self._file = file
        self._bottom = Bottom(file, HEIGHT) if file is not None and can_draw(file, os.environ) else None
        self._stream: BinaryIO | None = None
        self._rest = b""
        self._began_ns = now_ns()

    def look(self) -> None:
        """Read what has come, and draw."""
        if self._bottom is None or self._file is None:
            return
        try:
            self.read()
            screen = terminal_of(self._file)
            self._bottom.draw(panel(self.progress, (now_ns() - self._began_ns) / 1e9, screen), screen)
        except Exception:  # a drawing must not cost the run
            self.close()

    def read(self) -> None:
        """What the streams have got since. Raises OSError."""
        if self._stream is None:
            if not (self._folder / RECORDS).exists():
                return
            self._stream = safe_reader.open_file(self._folder, RECORDS)
        *lines, self._rest = (self._rest + self._stream.read(_AT_ONCE)).split(b"\n")
        for line in lines:
            self.progress.line(line)

    def close(self) -> None:
        """Give the terminal back."""
        bottom, self._bottom = self._bottom, None
        with suppress(Exception):
            if bottom is not None:
                bottom.close()
        with suppress(OSError):
            if self._stream is not None:
                self._stream.close()


def view(folder: Path) -> View:
    """Of a run that begins, on the terminal that standard error is on; nothing is drawn where it is none."""
    return View(folder, sys.stderr)
