"""Giving back to the script what a signal raised while a hook of ours was running.

Python runs signal handlers between any two bytecodes of the main thread, ours included. A KeyboardInterrupt, or the
SystemExit of a script's own SIGTERM handler, may so come up inside a hook: swallowed there it would be lost, let
through it would carry our frames, and out of ``__del__`` it can't go at all. It is raised again in the script's code,
a moment after the hook has ended.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import signal
import time
from types import TracebackType
from typing import Any

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_DELAY_S = 0.0005  # for the hook to return; if it has not, the exception comes up in it again and is put off again


def raise_later(error: BaseException) -> None:
    """Raise this very exception in the calling thread, soon, in whatever code it then runs; at once where no thread can
    be started to do that (at a limit, or as the interpreter ends)."""
    error.__traceback__ = _without_own_frames(error.__traceback__)
    error.__context__ = None

    def again(*_: Any) -> BaseException:  # Python 3.10 hands it the exception itself too
        return error

    # The interpreter raises classes only, and holds this one until it has. When it is raised, it gives the exception
    # that there was.
    same = type(type(error).__name__, (type(error),), {"__new__": again, "__init__": _nothing})
    try:
        _thread.start_new_thread(_raise, (_thread.get_ident(), same))
    except RuntimeError:
        raise error from None


def words_of(error: BaseException) -> str:
    """Return the words for an exception that came up in work of ours. One that a signal handler of the script's raised
    meanwhile (``sys.exit`` on SIGTERM) is the script's: it is raised again there."""
    if _of_handler(error):
        raise_later(error)
        return f"a signal handler of the script raised {type(error).__name__} meanwhile"
    return f"{type(error).__name__}: {error}"


def _of_handler(error: BaseException) -> bool:
    handlers = {signal.getsignal(number) for number in signal.valid_signals()}
    codes = {getattr(getattr(handler, "__func__", handler), "__code__", None) for handler in handlers} - {None}
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code in codes:
            return True
        traceback = traceback.tb_next
    return False


def _nothing(*_: Any) -> None:
    return None


def _raise(thread: int, exception: type[BaseException]) -> None:
    time.sleep(_DELAY_S)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))


def _without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The frames that are left are of the script's own handler, if it was that which raised."""
    kept: list[TracebackType] = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_OWN):
            kept.append(traceback)
        traceback = traceback.tb_next
    following: TracebackType | None = None
    for item in reversed(kept):
        following = TracebackType(following, item.tb_frame, item.tb_lasti, item.tb_lineno)
    return following
