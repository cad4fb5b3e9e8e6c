"""Runs of the script under ``tfperf run``, one after the other, in a folder of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import msgspec

_TAIL = 20
_MAX_TAIL_BYTES = 20_000
_STOP_S = 15
#: A run that was interrupted makes its records whole, and its script may save what it has; then it is ended.
_GRACE_S = 60


class Command(msgspec.Struct, frozen=True):
    """The target of a check: the script or module with its arguments, and the folder that it is started in."""

    words: tuple[str, ...]  # as after ``tfperf run``: [-m] TARGET ARGUMENTS
    cwd: Path
    limit_s: float | None = None  # after which a run is interrupted, as by Ctrl-C; None: it goes to its end
    quiet: bool = False  # show no progress

    @property
    def target(self) -> tuple[str, ...]:
        return self.words[:2] if self.words[0] == "-m" else self.words[:1]

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[len(self.target) :]

    @property
    def name(self) -> str:
        return self.words[1] if self.words[0] == "-m" else self.words[0]


class Ran(msgspec.Struct, frozen=True):
    """A run that has ended. ``tail``: the last lines of what the script wrote. ``interrupted``: by us, as was asked."""

    folder: Path
    status: int
    tail: tuple[str, ...]
    interrupted: bool = False

    @property
    def failed(self) -> bool:
        """An exit status that the script has of itself."""
        return self.status != 0 and not self.interrupted


def run(command: Command, folder: Path, *, light: bool) -> Ran:
    """Run it once; its output goes to a file next to ``folder``. ``light``: steps alone, no probes."""
    output = folder.with_name(folder.name + ".txt")
    words = [sys.executable, "-m", "tfperfkit", "run", "--run-dir", str(folder), "--output", os.devnull]
    words += ["--probes", "none"] if light else []
    interrupted = False
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*words, *command.target, "--", *command.arguments],
            cwd=command.cwd,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
        try:
            try:
                status = process.wait(command.limit_s)
            except subprocess.TimeoutExpired:
                interrupted = True
                status = _interrupted(process)
        except BaseException:
            _stop(process)
            raise
    return Ran(folder, status, _tail(output), interrupted)


def _interrupted(process: subprocess.Popen[bytes]) -> int:
    """As Ctrl-C does; what does not end by that is ended."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        _stop(process)
        return process.returncode


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a running process with us; it is asked first, so that it can remove its own files."""
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _tail(file: Path) -> tuple[str, ...]:
    try:
        with file.open("rb") as opened:
            opened.seek(max(file.stat().st_size - _MAX_TAIL_BYTES, 0))
            return tuple(opened.read().decode("utf-8", "replace").splitlines()[-_TAIL:])
    except OSError:
        return ()


@contextmanager
def ended_by_signals(numbers: Sequence[int] = (signal.SIGTERM, signal.SIGHUP)) -> Iterator[None]:
    """These signals raise SystemExit here, so that folders are removed and processes ended on the way out."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in numbers if signal.getsignal(number) == signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
