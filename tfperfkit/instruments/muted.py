"""Call into TensorFlow without showing the log lines that the script alone would not have caused.

C++ writes its log straight to descriptor 2. Redirecting that in the process would take other threads' and children's
bytes with it, and raising the log level would drop the script's own lines. On Linux a table of descriptors may belong
to one thread alone: the call runs on a short-lived thread with a copy of its own, in which 2 is a file of ours.
Everything that other threads write, open, close or start meanwhile goes through the process's table, which is not
touched.
"""

from __future__ import annotations

import _thread
import ctypes
import gc
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from tfperfkit.instruments.hooks.interrupts import raise_later

T = TypeVar("T")
_STDERR = 2
#: Containers allocated on the thread, generously. A collection there would close files in the thread's table only.
_ALLOCATED = 100
#: The same number on every Linux since 5.9. Seccomp profiles of containers allow it where they refuse ``unshare``.
_CLOSE_RANGE, _CLOSE_RANGE_UNSHARE = 436, 2
_CLONE_FILES = 0x400
#: How often the one who waits looks whether the thread still lives. A lock ends its waiting.
_LOOK_S = 0.1


class _Life:
    """The thread holds the only reference to it: once it is freed, the thread has ended, if it ever began."""


def muted(call: Callable[[], T], log: str) -> T:
    """``call()`` on a thread whose standard error is the file ``log``; what it returns or raises.

    If no thread is available, or none with descriptors of its own (not Linux, an old kernel, no memory, the
    interpreter's end), the call is made all the same, and its log is shown. An exception that a signal handler raises
    meanwhile is raised in the script afterwards.
    """
    if not sys.platform.startswith("linux"):
        return call()
    done = _thread.allocate_lock()
    done.acquire()
    outcome: list[Any] = []
    life, began = _Life(), [False]
    alive = weakref.ref(life)
    if gc.isenabled() and gc.get_count()[0] + _ALLOCATED > gc.get_threshold()[0]:
        gc.collect(0)
    try:
        # Not threading.Thread: the script must not see our thread among its own.
        _thread.start_new_thread(_run, (call, log, outcome, done, began, life))
    except RuntimeError:
        return call()
    del life
    if (interruption := _wait(done, alive)) is not None:
        raise_later(interruption)
    if not began[0]:
        return call()
    if not outcome:
        raise MemoryError("what a call into TensorFlow gave could not be kept")
    result, error = outcome
    # An error's traceback leads to frames, whose locals would lead back to it: a circle, which would keep every frame
    # up to the script's alive, and with them the calls that our seams wait for the end of.
    outcome.clear()
    try:
        if error is not None:
            raise error
    finally:
        del error
    return result  # type: ignore[no-any-return]


def _run(call: Callable[[], Any], log: str, outcome: list[Any], done: Any, began: list[bool], life: _Life) -> None:
    began[0] = True
    try:
        try:
            if _own_descriptors():
                _redirect(log)
        except MemoryError:  # at a limit: the call's log is seen
            pass
        outcome += (call(), None)
    except BaseException as error:
        outcome += (None, error)
    finally:
        done.release()


def _own_descriptors() -> bool:
    """Return whether this thread now has a table of its own. Every other thread keeps the one that there was."""
    libc = ctypes.CDLL(None)
    if libc.syscall(ctypes.c_long(_CLOSE_RANGE), _STDERR, _STDERR, _CLOSE_RANGE_UNSHARE) == 0:
        return True
    return bool(libc.unshare(_CLONE_FILES) == 0)


def _redirect(log: str) -> None:
    """Only after ``_own_descriptors`` was True."""
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    except OSError:  # the run directory is gone, the disk is full
        file = os.open(os.devnull, os.O_WRONLY)
    if file != _STDERR:
        os.dup2(file, _STDERR)


def _wait(done: Any, alive: weakref.ref[_Life]) -> BaseException | None:
    """Until the thread is through; gives what a signal handler raised meanwhile.

    A thread that the system has started may still die before its first line, where no memory is left for its frame. It
    can't say so: whoever waited for its lock alone would wait for ever.
    """
    interruption: BaseException | None = None
    while True:
        try:
            while not done.acquire(timeout=_LOOK_S):
                if alive() is None:
                    break
            return interruption
        except BaseException as error:
            interruption = interruption or error
