"""Files that the user's code opens for reading, by the line that does it: seen through an audit hook.

Hand-made loaders are invisible to every tf.data tool; a file opened again at every step is not.
"""

from __future__ import annotations

import os
import sys
import threading
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.instruments.hooks import audit
from tfperfkit.user_code import OWN

MAX_PLACES = 5_000
MAX_DEPTH = 8  # frames of the user's own kept per place
#: Of threads that open files again, the last so many are known.
MAX_THREADS = 4
_LIBRARIES = ("/tensorflow/", "/keras/", "/importlib", "/linecache.py", "/tokenize.py", "/inspect.py")


class FileOpens:
    """Counts opens per (place, path). ``rows`` gives what changed since it was last called."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._counts: dict[tuple[Any, ...], list[Any]] = {}
        self._changed: set[tuple[Any, ...]] = set()
        self._main = threading.main_thread().ident
        #: The threads besides the main one that last opened a file which their line had opened before: a generator's,
        #: a PyDataset's. The sampler looks at them too.
        self.again: tuple[int, ...] = ()

    def install(self) -> None:
        """Begin to count; only one object counts at a time."""
        audit.subscribe("open", self.opened)

    def stop(self) -> None:
        """Count no more."""
        audit.unsubscribe("open", self.opened)

    def opened(self, path: Any, mode: Any, flags: Any) -> None:
        """Note that a file is being opened by the caller's caller."""
        if not isinstance(path, (str, bytes)) or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
            return
        frame: FrameType | None = sys._getframe(2)
        chain: list[tuple[str, int, str]] = []
        while frame is not None and len(chain) < MAX_DEPTH:
            name = frame.f_code.co_filename
            if self._is_user(name):
                chain.append((name, frame.f_lineno, frame.f_code.co_name))
            elif not chain and (name.startswith(OWN) or any(part in name for part in _LIBRARIES)):
                return  # an import, a library's own file, or ours: not data that the user's line loads
            frame = frame.f_back
        if not chain:
            return
        key = (os.fsdecode(path), *chain)
        now = now_ns()
        row = self._counts.get(key)
        if row is None:
            if len(self._counts) >= MAX_PLACES:
                return
            row = self._counts[key] = [0, now, now, _size(path)]
        elif (thread := get_ident()) != self._main and thread not in self.again:
            self.again = (thread, *self.again[: MAX_THREADS - 1])
        row[0] += 1
        row[2] = now
        self._changed.add(key)

    def rows(self) -> list[list[Any]]:
        """``[path, [[file, line, function], …], opens so far, first ns, last ns, bytes]`` of what changed; the
        user's frames innermost first."""
        changed, self._changed = self._changed, set()
        return [[key[0], key[1:], *self._counts[key]] for key in changed]


def _size(path: str | bytes) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
