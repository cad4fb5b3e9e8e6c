"""When the closing of a window begins at the interpreter's end: before handlers of the probe's own."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import atexit, os, sys
from tfperfkit.recording.probe_runner import ExitNote
atexit.register(print, "session ends")
atexit.register(print, "probe writes")
note = ExitNote(lambda: print("closing", flush=True))
{then}
"""


def said(then: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(then=then)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_it_comes_before_what_was_registered_earlier() -> None:
    assert said("") == ["closing", "probe writes", "session ends"]


def test_a_window_that_was_closed_is_not_told_of() -> None:
    assert said("assert note.close() > 0 and note.at_ns is None") == ["probe writes", "session ends"]


def test_a_forked_child_says_nothing() -> None:
    fork = "sys.stdout.flush()\nif os.fork() == 0:\n    atexit._run_exitfuncs()\n    os._exit(0)\nos.wait()"
    assert said(fork).count("closing") == 1
