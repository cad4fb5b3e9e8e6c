"""The bottom lines of a terminal, kept from scrolling while a program writes above them.

The script writes straight to its terminal, so nothing that we move the cursor by can count on where it is. The lines
are taken out of the scrolling region (DECSTBM), as apt does for its bar, and each drawing saves and restores the cursor
with its attributes (DECSC, DECRC) within one write.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from tfperfkit.report.terminal import Screen

_SAVE, _RESTORE = "\x1b7", "\x1b8"
#: Less than this above it is left for the script, and nothing is drawn.
_MIN_ABOVE = 8


class Bottom:
    """The last lines of the terminal that ``file`` is on. Methods raise OSError when the terminal has gone."""

    def __init__(self, file: TextIO, height: int) -> None:
        self._descriptor = file.fileno()
        self._height = height
        self._rows = 0  # of the terminal, as the region was made for them; 0: there is none

    def draw(self, lines: Sequence[Text], screen: Screen) -> None:
        """``height`` lines at most. The region is made at the first drawing, and again when the window has changed."""
        rows = os.get_terminal_size(self._descriptor).lines
        made = "" if rows == self._rows else self._gone() + self._region(rows)
        if not self._rows:
            self._write(made)
            return
        first = self._rows - self._height + 1
        body = "".join(f"\x1b[{first + index};1H\x1b[2K{ansi(line, screen)}" for index, line in enumerate(lines))
        self._write(f"{made}{_SAVE}{body}{_RESTORE}")

    def close(self) -> None:
        """The terminal as it was, without our lines."""
        gone = self._gone()
        self._rows = 0
        self._write(gone)

    def _region(self, rows: int) -> str:
        self._rows = rows if rows >= self._height + _MIN_ABOVE else 0
        if not self._rows:
            return ""
        # Room first: where the cursor stands low, what is above moves up.
        room = "\n" * self._height + f"\x1b[{self._height}A"
        return f"{room}{_SAVE}\x1b[1;{rows - self._height}r{_RESTORE}"

    def _gone(self) -> str:
        if not self._rows:
            return ""
        first = self._rows - self._height + 1
        clear = "".join(f"\x1b[{first + index};1H\x1b[2K" for index in range(self._height))
        return f"{_SAVE}{clear}\x1b[r{_RESTORE}"

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._descriptor, data) :]


def ansi(line: Text, screen: Screen) -> str:
    """Return a line with its colours, as rich writes it."""
    target = io.StringIO()
    console = Console(
        file=target,
        force_terminal=screen.color,
        no_color=not screen.color,
        color_system="standard" if screen.color else None,
        width=screen.width + 1,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(line, end="", no_wrap=True, overflow="ignore", crop=False)
    return target.getvalue().replace("\n", "")


def can_draw(file: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Return whether it is a terminal that knows these sequences, and ours to draw on."""
    if file is None or environ.get("TERM", "") in ("", "dumb", "unknown"):
        return False
    try:
        return file.isatty() and os.tcgetpgrp(file.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False
