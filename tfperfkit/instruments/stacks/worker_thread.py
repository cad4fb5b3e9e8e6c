"""Which thread does the work while the main one only waits for it: a pool's worker, a thread of the script's.

Told by the frames of Python's library in which a thread waits for another; nothing is asked of the threads themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import islice
from types import CodeType, FrameType

#: Functions of Python's library in which a thread waits for another one, by the end of the file's path.
_WAITS = {
    "/threading.py": frozenset({"wait", "join", "_wait_for_tstate_lock", "acquire"}),
    "/concurrent/futures/_base.py": frozenset({"result", "wait", "as_completed"}),
    "/queue.py": frozenset({"get", "put", "join"}),
    "/selectors.py": frozenset({"select"}),  # asyncio's loop while executors work, a server's while its threads answer
}
#: Functions in which a thread waits for an answer over a socket, of another machine or of a thread of the script's.
_ANSWERS = {
    "/socket.py": frozenset({"readinto", "accept"}),
    "/ssl.py": frozenset({"read", "recv", "recv_into"}),
}
#: So many other threads are looked at, whether they wait; of those that don't, so many, and so many frames of each.
_MAX_THREADS, _MAX_AT_WORK, _MAX_FRAMES = 500, 16, 60
#: Maximum number of the other waiting threads.
_MAX_STANDING = 8
#: Maximum number of threads on which TensorFlow calls Python.
_MAX_CALLED = 8


class Workers:
    """Remembers what was found, so that a sample costs a look or two."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._waits: dict[CodeType, bool] = {}
        self._answers: dict[CodeType, bool] = {}
        self._last = 0

    def instead_of(
        self, thread: int, frames: dict[int, FrameType], own: int, rests: Callable[[], bool] = lambda: False
    ) -> int:
        """Return the thread that works while ``thread`` waits; ``thread`` itself where it does not wait, or nobody
        works. ``own``: the thread that asks. ``frames`` are those of ``sys._current_frames``. ``rests``: whether the
        thread has had no processor lately; asked where it is in C code that a line of the user's called
        (``time.sleep``). Who waits for an answer over a socket need not wait for a thread: see ``answering``."""
        frame = frames.get(thread)
        if frame is None:
            return thread
        if not self._is_wait(frame.f_code) and not (self._is_user(frame.f_code.co_filename) and rests()):
            return thread
        return self._find_at_work(thread, frames, own)

    def answering(self, thread: int, frames: dict[int, FrameType], own: int) -> int:
        """Return the thread that works while ``thread`` waits for an answer over a socket, which may be that thread's;
        ``thread`` itself otherwise. As ``instead_of``."""
        frame = frames.get(thread)
        return self._find_at_work(thread, frames, own) if frame is not None and self._asks(frame.f_code) else thread

    def _find_at_work(self, thread: int, frames: dict[int, FrameType], own: int) -> int:
        order = sorted(frames, key=lambda ident: ident != self._last)[:_MAX_THREADS]
        others = (ident for ident in order if ident not in (thread, own) and not self._rests(frames[ident].f_code))
        for ident in islice(others, _MAX_AT_WORK):
            if self._works(frames[ident]):
                self._last = ident
                return ident
        return thread

    def standing(self, thread: int, frames: dict[int, FrameType], own: int) -> list[int]:
        """Return the other threads that wait in the user's code, some of them at most, while ``thread`` waits and
        nobody works; else none. As ``instead_of``."""
        frame = frames.get(thread)
        if frame is None or not self._is_wait(frame.f_code):
            return []
        others = [ident for ident in islice(frames, _MAX_THREADS) if ident not in (thread, own)]
        working = (ident for ident in others if not self._rests(frames[ident].f_code))
        if any(self._works(frames[ident]) for ident in islice(working, _MAX_AT_WORK)):
            return []
        waiting = (ident for ident in others if self._rests(frames[ident].f_code) and self._works(frames[ident]))
        return list(islice(waiting, _MAX_STANDING))

    def find_called(self, thread: int, frames: dict[int, FrameType], own: int) -> list[int]:
        """Threads that no Python has started, some at most: they are in ``frames`` only while C code, as of a pipeline
        of tf.data, has Python called on them. As ``instead_of``."""
        started = getattr(threading, "_active", {})  # without the lock that ``enumerate`` takes: nobody waits for us
        others = (ident for ident in frames if ident not in started and ident not in (thread, own))
        return list(islice(others, _MAX_CALLED))

    def _is_wait(self, code: CodeType) -> bool:
        return _is_known(code, _WAITS, self._waits)

    def _asks(self, code: CodeType) -> bool:
        return _is_known(code, _ANSWERS, self._answers)

    def _rests(self, code: CodeType) -> bool:
        return self._is_wait(code) or self._asks(code)

    def _works(self, frame: FrameType | None) -> bool:
        """Return whether the user's code is on its stack."""
        for _ in range(_MAX_FRAMES):
            if frame is None:
                return False
            if self._is_user(frame.f_code.co_filename):
                return True
            frame = frame.f_back
        return False


def _is_known(code: CodeType, functions: dict[str, frozenset[str]], known: dict[CodeType, bool]) -> bool:
    """Return whether a function is one of these, by the end of its file's path and its name; remembered in
    ``known``."""
    found = known.get(code)
    if found is None:
        name = code.co_filename.replace("\\", "/")
        found = known[code] = any(name.endswith(end) and code.co_name in names for end, names in functions.items())
    return found
