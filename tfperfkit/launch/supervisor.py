"""The parent: starts the script in the real interpreter, forwards signals, survives it, knows how it ended.

The script inherits our stdin, stdout and stderr and stays in our process group, so that the terminal's Ctrl-C and
Ctrl-Z reach it as they would reach ``python``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from tfperfkit.clock import now_ns
from tfperfkit.store import Exit, RunDirectory

_BOOTSTRAP = str(Path(__file__).with_name("bootstrap"))
#: Signals that someone may send to our process and means for the script.
_FORWARDED = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
#: Signals that a terminal sends to the whole process group: the script has had them already.
_FROM_TERMINAL = ("SIGINT", "SIGQUIT", "SIGHUP")


class Ended(msgspec.Struct, frozen=True):
    """How the script ended: its exit status, or the number of the signal that killed it."""

    status: int
    signal: int | None
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """As a shell reports it: 128 + the number of the signal."""
        return 128 + self.signal if self.signal else self.status


def interpreter() -> list[str]:
    """This interpreter, with the flags that it was itself started with (``-O``, ``-X dev``, ``-W``, ``-u`` …)."""
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    if "-u" in getattr(sys, "orig_argv", [])[1:3] and "-u" not in flags:
        flags.append("-u")
    return [sys.executable, *flags]


def unprofiled_reason() -> str | None:
    """Why a script of this interpreter can't be recorded, or None."""
    if sys.flags.isolated or sys.flags.ignore_environment:
        return "Python runs with -I or -E, so it does not look at PYTHONPATH: the script runs unprofiled"
    if sys.flags.no_site:
        return "Python runs with -S, without the site module: the script runs unprofiled"
    return None


def environment(run: RunDirectory) -> dict[str, str]:
    """The environment that starts the agent; the agent restores the script's own before the script can see it."""
    changed = dict(os.environ)
    before = changed.get("PYTHONPATH")
    changed["TFPERF_RUN_DIRECTORY"] = str(run.path)
    if before is not None:
        changed["TFPERF_PYTHONPATH"] = before
    changed["PYTHONPATH"] = _BOOTSTRAP + (os.pathsep + before if before else "")
    return changed


def supervise(command: Sequence[str], run: RunDirectory | None) -> Ended:
    """Run the script to its end. ``run`` is None for a script that can't be recorded."""
    interrupted = False
    child: subprocess.Popen[bytes] | None = None

    def forward(number: int, _: FrameType | None) -> None:
        if child is not None and child.returncode is None:
            try:
                os.kill(child.pid, number)
            except ProcessLookupError:
                pass

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        # From a terminal the script has had it too: same process group. Sent to us alone, it must be passed on.
        if not _from_terminal():
            forward(number, frame)
        interrupted = interrupted or number == signal.SIGINT

    before: dict[int, Any] = {}
    for name in (*_FORWARDED, *_FROM_TERMINAL):
        number = getattr(signal, name, None)
        # What the caller ignores (nohup) stays ignored, for us and for the script.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, interrupt if name in _FROM_TERMINAL else forward)
    try:
        child = subprocess.Popen(
            command, env=environment(run) if run else None, close_fds=False,
        )
        returncode = child.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    killed = -returncode if returncode < 0 else None
    ended = Ended(max(returncode, 0), killed, interrupted or killed == signal.SIGINT)
    if run is not None:
        try:
            run.write_json(
                "exit.json",
                Exit(status=returncode, ended_ns=now_ns(), interrupted=ended.interrupted),
            )
        except OSError:
            pass
    return ended


def _from_terminal() -> bool:
    """Whether a Ctrl-C now would come from a terminal that we are in the foreground of."""
    try:
        descriptor = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(descriptor)
