"""``tfperf view --tensorboard RUN ...``: the runs' traces in TensorBoard until Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

from tfperfkit.config import find_run
from tfperfkit.errors import UsageError
from tfperfkit.report.terminal import is_quiet
from tfperfkit.report.text import one_line
from tfperfkit.viewing.logdir import Shown, build
from tfperfkit.viewing.tensorboard import TensorBoard

_LOOK_SECONDS = 0.5
_LARGE_BYTES = 50_000_000


def view(names: tuple[str, ...], port: int, browser: bool, why_not: Callable[[], str | None]) -> int:
    """Serve until Ctrl-C (status 0: that is how it ends) or SIGTERM (143). Raises UsageError if it can't.

    ``why_not``: what is missing for TensorBoard here, if anything.
    """
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, _ended_by)
    try:
        runs = [find_run(name) for name in names]
        with tempfile.TemporaryDirectory(prefix="tfperf-view-") as folder:
            shown = build(Path(folder) / "logs", runs)
            if reason := why_not():
                raise UsageError(reason)
            board = TensorBoard.start(Path(folder) / "logs", port, Path(folder) / "tensorboard.log")
            try:
                _warn_of_size(Path(folder) / "logs")
                board.wait_for(shown)
                _announce(board, shown, browser)
                while (end := board.ended()) is None:
                    time.sleep(_LOOK_SECONDS)
                raise UsageError(f"TensorBoard has ended by itself, {end}")
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave the folder behind
                board.end()
    except KeyboardInterrupt:
        return 0


def can_open_browser(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a window can be opened. Text browsers, which would take the terminal, are not meant."""
    if environ.get("CI"):
        return False
    return sys.platform in ("darwin", "win32") or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def _warn_of_size(logdir: Path) -> None:
    """XProf holds a whole trace in memory, about forty times its size, and is silent while it reads it."""
    for file in logdir.rglob("*.xplane.pb"):
        if (size := file.stat().st_size) > _LARGE_BYTES:
            print(
                f"tfperf: the trace of {one_line(file.parent.name)} has {size / 1e6:.0f} MB: TensorBoard needs about "
                f"{size * 40 / 1e9:.0f} GB for it and long for each page; tfperf export needs neither",
                file=sys.stderr,
            )


def _announce(board: TensorBoard, shown: list[Shown], browser: bool) -> None:
    width = max(len(item.name) for item in shown)
    for item in shown:
        print(f"{item.name:{width}}  overview  {board.link(item)}")
        print(f"{'':{width}}  timeline  {board.link(item, 'trace_viewer@')}")
    if not is_quiet():
        print("On this machine only. Ctrl-C ends it.")
    sys.stdout.flush()
    if browser:
        open_browser(board.link(shown[0]))


def open_browser(address: str) -> None:
    """Open a browser window, if there can be one. The address is on the screen anyway."""
    if can_open_browser():
        import webbrowser

        try:
            webbrowser.open(address)
        except (webbrowser.Error, OSError):
            pass


def _ended_by(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
