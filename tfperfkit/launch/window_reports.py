"""Watch mode: what a window found is worked out while the script trains on, once, by a process that gets idle
processors only. The reports of the run have it then, at its end too, without reading the window's traces.

A process of its own: in a run of days the parent would keep what the analysis imports and decodes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tfperfkit.analysis import summary
from tfperfkit.records.history import WINDOWS

_MODULE = "tfperfkit.launch.window_reports"
_GENTLE = 19
_TIMEOUT_S = 2.0


class WindowReports:
    """``look`` now and then, ``close`` as the script has ended: what is under way then is the report's own to do."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / WINDOWS
        self._begun: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def look(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._process = None
        with suppress(OSError):
            for window in self._ended():
                self._begun.add(window.name)
                if not (window / summary.FILE).exists():
                    self._process = begin_gently(_MODULE, window)
                    return

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            with suppress(OSError, subprocess.TimeoutExpired):
                process.kill()
                process.wait(_TIMEOUT_S)

    def _ended(self) -> list[Path]:
        """Windows that are over and were not looked into, in order."""
        if not self._folder.is_dir():
            return []
        with os.scandir(self._folder) as entries:
            new = [each for each in entries if each.name not in self._begun and each.is_dir(follow_symlinks=False)]
        return sorted(Path(each.path) for each in new if Path(each.path, "end.json").exists())


def begin_gently(module: str, folder: Path, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start ``python -m module folder`` on idle processors only. Raises OSError.

    It runs in the folder, where no file is named as a module is, and in our session: priorities may be compared within
    one only (``sched_autogroup_enabled``).
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(folder.resolve())],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
    )
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, process.pid, _GENTLE)
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
    return process


if __name__ == "__main__":
    from tfperfkit.analysis.analyze import headline_of

    headline_of(Path(sys.argv[1]))
