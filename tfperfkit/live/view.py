"""The live view of one run: reads its streams and draws a panel once a second, from the supervisor's loop. It never
raises."""

from __future__ import annotations

import os
import statistics
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from rich.text import Text

from tfperfkit.clock import now_ns
from tfperfkit.live.bottom import Bottom, can_draw
from tfperfkit.live.progress import Progress
from tfperfkit.records.parts import words_of
from tfperfkit.report import numbers
from tfperfkit.report.bar import sign_of
from tfperfkit.report.terminal import Screen, terminal_of
from tfperfkit.report.text import shorten, visible
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import RECORDS

#: Maximum number of bytes that are read at each look, so that the parent's use of the script's CPU cores is negligible.
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
        """Read the new lines of the streams. Raises OSError."""
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
    """Return the view of a run that begins, on the terminal that standard error is on; nothing is drawn if there is
    none.
    """
    return View(folder, sys.stderr)


#: The panel always has this many lines: they are reserved before there is anything to show.
HEIGHT = 4
_BAR = 30  # at most, and a quarter of the screen
_PHASES = {"starting": "starting", "warm-up": "warm-up", "clean": "clean steps"}


def panel(progress: Progress, passed_s: float, screen: Screen) -> list[Text]:
    """Draw a rule, the steps, the parts of the time, and the window with the retraces, within the screen's width."""
    signs = screen.symbols
    title = " tfperf "
    rule = Text(signs.rule * 2 + title + signs.rule * max(screen.width - 2 - len(title), 0), "dim")
    rows = [rule, Text(signs.dot.join(_steps(progress, passed_s, screen)), "bold"), _parts(progress, screen)]
    rows.append(Text(signs.dot.join([_phase(progress, screen), *_retraces(progress, screen)])))
    for row in rows:
        row.truncate(screen.width, overflow="ellipsis" if screen.unicode else "crop")
    return rows


def _steps(progress: Progress, passed_s: float, screen: Screen) -> list[str]:
    steps = progress.steps
    clock = f"{int(passed_s) // 60}:{int(passed_s) % 60:02d}"
    if not steps.count:
        return ["no training step yet", clock]
    said = [f"step {steps.count:,}"]
    if steps.recent_ns:
        median = statistics.median(steps.recent_ns) / 1e6
        of = f"median of the last {len(steps.recent_ns)}" if len(steps.recent_ns) > 1 else "the first"
        said.append(f"{numbers.alone(median, 'ms', screen.symbols)} ({of})")
        if steps.batch_size and median > 0:
            said.append(f"{steps.batch_size / median * 1000:,.0f} examples/s")
    return [*said, clock]


def _parts(progress: Progress, screen: Screen) -> Text:
    total = sum(progress.parts_ms.values())
    if total <= 0:
        return Text("no samples yet", "dim")
    line, legend = Text(), ""
    width = min(_BAR, screen.width // 4)
    parts = sorted(progress.parts_ms.items(), key=lambda item: -item[1])
    for part, ms in parts:
        share, words, sign = ms / total, words_of(part), sign_of(part, screen)
        line.append(sign * round(share * width), "cyan")
        said = f"  {sign} {words.label if words is not None else part} {share * 100:.0f} %"
        if share >= 0.01 and width + len(legend + said) < screen.width:  # no part is shown cut in two
            legend += said
    return line.append(legend)


def _phase(progress: Progress, screen: Screen) -> str:
    known = _PHASES.get(progress.phase)
    if known is not None:
        return known
    first, last = progress.window
    steps = f", steps {first:,} to {last:,}" if first else ""
    return f"window of {_name(progress.phase, screen)} is open{steps}"


def _retraces(progress: Progress, screen: Screen) -> list[str]:
    found = progress.retraces
    if not found:
        return []
    (((file, line, called), count),) = found.most_common(1)
    worst = f"{_name(called, screen)}, {_name(os.path.basename(file), screen)}:{line}"
    of = f" ({worst})" if count == found.total() else f" ({count} of {worst})"
    return [f"{found.total():,} retrace{'s' * (found.total() != 1)}{of}"]


def _name(text: str, screen: Screen) -> str:
    """Return a name from the script, short and printable."""
    return visible(shorten(text, 40, screen.symbols.ellipsis), unicode=screen.unicode)
