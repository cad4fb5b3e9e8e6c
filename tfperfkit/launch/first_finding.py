"""While a script runs on a terminal: one line with the first finding so far, once the windows have closed.

The report is made by a process of its own that gets idle processors only, so that the script keeps its pace.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.launch.window_reports import begin_gently
from tfperfkit.records.conclusion import FIRST
from tfperfkit.report.text import shorten, visible
from tfperfkit.storage.run_directory import PHASES, RunDirectory, read_stream

_MODULE = "tfperfkit.launch.first_finding"
#: The last window closed so long ago that no other one follows at once.
_QUIET_NS = 5 * NS_PER_S
_TIMEOUT_S = 2.0
_LONG = 300
#: End of the line.
ENDING = "Ctrl-C ends the run with its report."


class FirstFinding:
    """``look`` now and then, ``close`` as the script has ended; neither raises. One line is written to ``file``."""

    def __init__(self, run: RunDirectory, file: TextIO, quiet_ns: int = _QUIET_NS) -> None:
        self._run, self._file, self._quiet_ns = run, file, quiet_ns
        self._process: subprocess.Popen[bytes] | None = None
        self._done = False

    def look(self) -> None:
        """Begin once the windows have closed; print the line once the report has been made."""
        if self._done:
            return
        with suppress(OSError, ValueError):
            if self._process is None:
                if self._windows_have_closed():
                    self._process = begin_gently(_MODULE, self._run.path, stdout=subprocess.PIPE)
            elif self._process.poll() is not None:
                self._done = True
                self._print(self._process.communicate()[0].decode("utf-8", "replace").strip())

    def close(self) -> None:
        """Stop: the report comes now."""
        process, self._process, self._done = self._process, None, True
        if process is not None and process.poll() is None:
            with suppress(OSError, subprocess.TimeoutExpired):
                process.kill()
                process.wait(_TIMEOUT_S)

    def _windows_have_closed(self) -> bool:
        """Return whether a window has closed and none has opened for a while."""
        match list(deque(read_stream(self._run.session / f"{PHASES}.jsonl"), maxlen=1)):
            case [[_, "closed", int(when), *_]]:
                return now_ns() - when > self._quiet_ns
        return False

    def _print(self, finding: str) -> None:
        """Write the line on a line of its own: the script may be in the middle of one."""
        if finding:
            self._file.write(f"\ntfperf so far: {finding} {ENDING}\n")
            self._file.flush()


def is_wanted(file: TextIO | None, *, quiet: bool, alone: bool) -> bool:
    """Return whether the line is printed: on a terminal, unless ``quiet``, and only if the run is ``alone`` there:
    no view is drawn, nothing is watched, and no other ranks train."""
    try:
        return file is not None and alone and not quiet and os.isatty(file.fileno())
    except (OSError, ValueError, AttributeError):
        return False


def describe_first(folder: Path) -> str:
    """Return the first finding of a run that still runs, as a sentence; "" if nothing is known yet."""
    from tfperfkit.analysis.analyze import analyze
    from tfperfkit.report.paths import with_short_paths

    report = analyze(folder)
    if report.conclusion is None:
        return ""
    said = report.conclusion.headline.removeprefix(f"{FIRST}: ")
    return visible(shorten(with_short_paths(said, report.run.folder), _LONG))


if __name__ == "__main__":
    sys.stdout.buffer.write(describe_first(Path(sys.argv[1])).encode("utf-8", "backslashreplace"))
