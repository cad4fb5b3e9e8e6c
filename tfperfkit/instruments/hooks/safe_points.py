"""Moments at which a thread is about to enter TensorFlow and has nothing of it under way: there a window may open.

The profiler, callbacks on operations and the collection of graphs must not be switched between two instructions of a
call into TensorFlow. So any thread may ask for a switch, and the driving thread makes it as it passes a
seam: TensorFlow's and Keras' functions ask at each call whether tracebacks are to be filtered (one function that all of
them look up, which is replaced while somebody waits), a session is run, an iterator is asked for a batch, a compiled
function is called. The stack tells whether that call came from outside of TensorFlow: from Python called by TensorFlow
(``py_function``, the gradient of an operation) it does not count.

If nobody waits, nothing of this is installed.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from _thread import get_ident
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from tfperfkit.instruments.hooks.interrupts import raise_later

Passing = Callable[[FrameType], None]
#: Makes ``passing`` be called with the calling frame as TensorFlow is entered; returns what undoes that.
Seam = Callable[[Passing], Callable[[], None]]

_FILTERS = (
    "tensorflow.python.util.traceback_utils",
    "keras.src.utils.traceback_utils",
    "tf_keras.src.utils.traceback_utils",
)
_ASKED = "is_traceback_filtering_enabled"
#: TensorFlow's own Python between a caller and the seam, by file: plain functions that nothing in C calls. "": all.
_ENTRIES = {
    "util/traceback_utils.py": "",
    "util/dispatch.py": "",
    "framework/override_binary_operator.py": "",
    "framework/tensor.py": "__next__",
    "ops/tensor_math_operator_overrides.py": "",
    "ops/weak_tensor_ops.py": "wrapper",
    "eager/polymorphic_function/polymorphic_function.py": "__call__",
    "eager/polymorphic_function/concrete_function.py": "__call__",
    "data/ops/iterator_ops.py": "__next__",
    "distribute/input_lib.py": "__next__",
    "client/session.py": "",
    "training/monitored_session.py": "",
}


class SafePoints:
    """Runs one action at a time, on the thread that it is for. ``at_next`` from any thread; none of these raises."""

    def __init__(self, seams: Sequence[Seam]) -> None:
        self._seams = seams
        self._due: deque[tuple[Callable[[], object], int]] = deque(maxlen=1)
        self._undo: list[Callable[[], None]] = []

    def at_next(self, action: Callable[[], object], thread: int) -> None:
        """Run ``action`` as this thread next enters TensorFlow from outside."""
        if not self._undo:
            for seam in self._seams:
                self._undo.append(seam(self._passing))
        self._due.append((action, thread))

    def withdraw(self) -> bool:
        """Nobody waits any more; whether an action did, which then has not run and will not."""
        withdrawn = self._take() is not None
        self._restore()
        return withdrawn

    def knock(self) -> None:
        """Also look whether the main thread, should the action be for it, is outside of TensorFlow altogether.

        For an action that can't wait until TensorFlow is entered again. It is Python's own way to run something between
        two instructions of the main thread, as a signal handler is run.
        """
        if self._due:
            _knocks.answer = self._answer
            _knocks.knock()

    def _passing(self, frame: FrameType) -> None:
        """The thread that calls is about to enter TensorFlow from ``frame``, or from where that was called."""
        try:
            if self._is_for(get_ident()) and enters(frame):
                self._act()
        except Exception:
            pass
        except BaseException as error:  # a Ctrl-C is the script's
            raise_later(error)

    def _answer(self, frame: FrameType) -> None:
        if self._is_for(threading.main_thread().ident) and outside(frame):
            self._act()

    def _is_for(self, thread: int | None) -> bool:
        try:
            return self._due[0][1] == thread
        except IndexError:
            return False

    def _act(self) -> None:
        taken = self._take()
        if taken is not None:
            self._restore()
            taken[0]()

    def _take(self) -> tuple[Callable[[], object], int] | None:
        try:
            return self._due.popleft()  # in C: only one thread gets it
        except IndexError:
            return None

    def _restore(self) -> None:
        while self._undo:
            try:
                self._undo.pop()()
            except IndexError:
                return


# --- where a thread is ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _part_of_tensorflow(filename: str) -> str | None:
    """Return the path of a file of TensorFlow below its ``python`` folder; None for any other file."""
    _, found, rest = filename.replace(os.sep, "/").rpartition("/tensorflow/python/")
    if found:
        return rest
    return "" if "/tensorflow/" in filename and "site-packages" in filename else None


def outside(frame: FrameType | None) -> bool:
    """Return whether no function of TensorFlow is on the stack that ends with ``frame``."""
    while frame is not None:
        if _part_of_tensorflow(frame.f_code.co_filename) is not None:
            return False
        frame = frame.f_back
    return True


def enters(frame: FrameType | None) -> bool:
    """Tell whether the innermost frames, of plain functions at TensorFlow's door, were called from outside of
    TensorFlow.
    """
    while frame is not None:
        code = frame.f_code
        part = _part_of_tensorflow(code.co_filename)
        if part is None:
            return outside(frame)
        if _ENTRIES.get(part) not in ("", code.co_name):
            return False
        frame = frame.f_back
    return False


# --- the seams --------------------------------------------------------------------------------------------------------


def api_calls(passing: Passing) -> Callable[[], None]:
    """Calls of TensorFlow's and Keras' public functions and of compiled functions."""
    undo = [_stand_in(sys.modules.get(name), passing) for name in _FILTERS]

    def restore() -> None:
        for each in undo:
            each()

    return restore


def _stand_in(module: Any, passing: Passing) -> Callable[[], None]:
    original = getattr(module, "__dict__", {}).get(_ASKED)
    if not callable(original):
        return _nothing

    def is_traceback_filtering_enabled() -> Any:
        passing(sys._getframe(1))
        return original()

    setattr(module, _ASKED, is_traceback_filtering_enabled)

    def restore() -> None:
        if getattr(module, _ASKED, None) is is_traceback_filtering_enabled:
            setattr(module, _ASKED, original)

    return restore


def _nothing() -> None:
    return None


# --- knocking ---------------------------------------------------------------------------------------------------------


class _Knocks:
    """Callback that the interpreter calls on the main thread: a function and this one object, which is never freed. So
    there is nothing that could be gone when it calls, as the interpreter ends or after a fork either.
    """

    def __init__(self) -> None:
        python = ctypes.PyDLL(None, handle=ctypes.pythonapi._handle)  # functions of our own, to declare their types
        self._add = python.Py_AddPendingCall
        self._add.argtypes, self._add.restype = (ctypes.c_void_p, ctypes.c_void_p), ctypes.c_int
        self._call = ctypes.cast(python.PyObject_IsTrue, ctypes.c_void_p)  # returns 0 for False: done, no error
        python.Py_IncRef.argtypes = (ctypes.py_object,)
        python.Py_IncRef(self)
        self._waiting = False
        self.answer: Callable[[FrameType], None] = _unanswered

    def knock(self) -> None:
        """Have ``answer`` called on the main thread, with the frame that it is in; one call waits at most."""
        if not self._waiting:
            self._waiting = True  # before: it may be answered before we come to it
            if self._add(self._call, id(self)):
                self._waiting = False  # too many of others wait

    def __bool__(self) -> bool:
        try:
            answer, self.answer = self.answer, _unanswered
            answer(sys._getframe(1))
        except Exception:
            pass
        except BaseException as error:
            raise_later(error)
        finally:
            # Not before: with a trace function set, CPython 3.11 begins a function of Python's again and again for as
            # long as another call waits while this one runs.
            self._waiting = False
        return False


def _unanswered(frame: FrameType) -> None:
    return None


_knocks = _Knocks()
