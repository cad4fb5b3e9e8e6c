"""Signals while the script runs: each reaches it once, as it would have reached ``python``.

The script is in our process group. Signals from the terminal (Ctrl-C, Ctrl-\\, the end of the line) go to the group,
so the script has had them; so do signals that a program sends to the group (``timeout``, a shell's ``kill %1``, the
script's own ``os.killpg``). A signal to our process alone (``kill PID``, a container's stop) is meant for the script
and must be passed on. The kernel says where a signal came from (``si_code``), but not whom else it went to: that is
known from a witness, a process of the group that blocks all signals, so that the one in question stays pending there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

#: Never passed on: faults of our own process, job control, and signals that nobody sends to stop or steer a program.
_NOT_FORWARDED = (
    "SIGKILL",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGCONT",
    "SIGCHLD",
    "SIGWINCH",
    "SIGURG",
    "SIGSEGV",
    "SIGBUS",
    "SIGFPE",
    "SIGILL",
    "SIGABRT",
    "SIGTRAP",
    "SIGSYS",
    "SIGPIPE",
)
_SENT_BY_PROCESS = 0  # si_code: 0 for kill, negative for sigqueue and tgkill; positive for what the kernel sends
_WITNESS_WAIT_S = 0.02  # a signal to the group reaches its members one after another, within microseconds
_PR_SET_PDEATHSIG = 1
#: Seconds between two looks around while the script runs, where nothing else is asked for.
LOOK_S = 1.0
_WAKE_S = 0.05  # so late at most is a signal passed on where no witness could be made


def forwarded() -> set[int]:
    """Return the signals to pass on. Signals that our caller ignores (nohup) stay ignored, for us and for the
    script."""
    excluded = {getattr(signal, name, None) for name in _NOT_FORWARDED}
    return {
        number
        for number in signal.valid_signals()
        if number not in excluded and signal.getsignal(number) not in (signal.SIG_IGN, None)
    }


class Relay:
    """Between ``with Relay() as relay`` and its end no signal interrupts us; ``wait`` passes them to the child."""

    def __init__(self, look_s: float = LOOK_S) -> None:
        self._look_s = look_s
        self.interrupted = False
        #: Called for a SIGUSR2 that is sent to us and that the script does not use; without it that is passed on too.
        self.asked: Callable[[], None] | None = None
        self._signals = forwarded()
        self._before: Any = None
        self._children_ignored = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
        self._witness = 0
        self._die_with_parent = _parent_death_signal()
        self._parent = os.getpid()

    def __enter__(self) -> Relay:
        if self._children_ignored:  # the kernel would drop the child's exit status
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, {*self._signals, signal.SIGCHLD})
        self._witness = self._new_witness()
        return self

    def __exit__(self, *_: object) -> None:
        self._dismiss_witness()
        while info := signal.sigtimedwait(self._signals, 0):
            self.interrupted = self.interrupted or info.si_signo == signal.SIGINT
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def in_child(self) -> None:
        """Between fork and exec: the child gets the signals as we got them."""
        if self._children_ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for number in self._signals:
            signal.signal(number, signal.SIG_DFL)  # one that is pending must act as it would on a fresh python
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def wait(self, child: subprocess.Popen[bytes], now_and_then: Callable[[], None]) -> int:
        """Wait for the child's end, with a call of ``now_and_then`` each ``look_s``; returns its ``returncode``."""
        looked = time.monotonic()
        while child.poll() is None:
            info = self._next()
            while info:
                if info.si_signo != signal.SIGCHLD:
                    self._received(info, child)
                info = signal.sigtimedwait(self._signals, 0)
            if time.monotonic() - looked > self._look_s / 2:
                looked = time.monotonic()
                now_and_then()
        return int(child.returncode)

    def _next(self) -> Any:
        """Return the next signal, SIGCHLD included; the witness sends one each ``look_s``."""
        if self._witness:
            return signal.sigwaitinfo({*self._signals, signal.SIGCHLD})
        try:
            # Its return value is not used: after a stop (Ctrl-Z) that was longer than its timeout Python gives a signal
            # that never was, or EINVAL.
            signal.sigtimedwait({signal.SIGCHLD}, _WAKE_S)
        except OSError:
            pass
        return None

    def _received(self, info: Any, child: subprocess.Popen[bytes]) -> None:
        self.interrupted = self.interrupted or info.si_signo == signal.SIGINT
        # Asked for each signal: one that stays pending at the witness would hide the next that is meant for us alone.
        to_group = self._sent_to_group(info.si_signo)
        if info.si_pid == child.pid and info.si_code <= _SENT_BY_PROCESS:
            return  # from the script itself: it means its usual parent, not us
        # SIGALRM comes from a timer that was set before we were started: plain python's.
        if info.si_code > _SENT_BY_PROCESS and info.si_signo != signal.SIGALRM:
            return  # from the terminal, which sent it to the script too
        if to_group or child.poll() is not None:
            return
        if info.si_signo == signal.SIGUSR2 and self.asked is not None and not _uses(child.pid, signal.SIGUSR2):
            self.asked()
        else:
            os.kill(child.pid, info.si_signo)

    # --- the witness ----------------------------------------------------------------------------------------------

    def _new_witness(self) -> int:
        try:
            pid = os.fork()
        except OSError:
            return 0
        if pid:
            return pid
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            self._die_with_parent()
            os.closerange(0, 4096)  # a reader of the script's pipes must not wait for us
            while os.getppid() == self._parent:
                time.sleep(self._look_s)
                os.kill(self._parent, signal.SIGCHLD)  # wakes it to look around
        finally:
            os._exit(0)

    def _dismiss_witness(self) -> None:
        pid, self._witness = self._witness, 0
        if pid:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:
                pass

    def _sent_to_group(self, number: int) -> bool:
        if not self._witness:
            return False
        until = time.monotonic() + _WITNESS_WAIT_S
        while not _pending(self._witness, number):
            if time.monotonic() > until:
                return False
            time.sleep(0.001)
        self._dismiss_witness()  # it can't be made to forget a signal
        self._witness = self._new_witness()
        return True


def _pending(pid: int, number: int) -> bool:
    return _in_mask(pid, number, b"ShdPnd:")


def _uses(pid: int, number: int) -> bool:
    """Return whether a process catches, ignores or blocks a signal: then it is not ours."""
    return _in_mask(pid, number, b"SigCgt:", b"SigIgn:", b"SigBlk:")


def _in_mask(pid: int, number: int, *names: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            masks = [int(line.split()[1], 16) for line in status if line.startswith(names)]
    except OSError:
        return False
    return any(mask >> (number - 1) & 1 for mask in masks)


def _parent_death_signal() -> Callable[[], object]:
    """Return a function that lets the system kill the calling process when its parent dies."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return lambda: None
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


class HandlerRelay:
    """For systems without ``sigtimedwait`` (macOS): handlers, and the terminal is recognised by being there."""

    def __init__(self, look_s: float = LOOK_S) -> None:
        self._look_s = look_s
        self.interrupted = False
        self.asked: Callable[[], None] | None = None  # never: what the script does with a signal can't be known here
        self._child: subprocess.Popen[bytes] | None = None
        self._before: dict[int, Any] = {}
        self.in_child: Callable[[], None] | None = None

    def __enter__(self) -> HandlerRelay:
        for number in forwarded():
            try:
                self._before[number] = signal.signal(number, self._received)
            except (OSError, ValueError):
                continue
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, child: subprocess.Popen[bytes], now_and_then: Callable[[], None]) -> int:
        self._child = child
        while True:
            try:
                return child.wait(self._look_s)
            except subprocess.TimeoutExpired:
                now_and_then()

    def _received(self, number: int, _: FrameType | None) -> None:
        self.interrupted = self.interrupted or number == signal.SIGINT
        of_terminal = {getattr(signal, name, None) for name in ("SIGINT", "SIGQUIT", "SIGHUP")}
        if number in of_terminal and _in_foreground():
            return
        if self._child is not None and self._child.returncode is None:
            try:
                os.kill(self._child.pid, number)
            except ProcessLookupError:
                pass


def _in_foreground() -> bool:
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


def relay(look_s: float = LOOK_S) -> Relay | HandlerRelay:
    """Return the best that this system offers."""
    kind = Relay if hasattr(signal, "sigtimedwait") and os.path.isdir("/proc/self") else HandlerRelay
    return kind(look_s)
