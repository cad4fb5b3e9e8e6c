"""Arrays with room behind their last row."""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np


class Room:
    """Which rows of which buffer are taken. A part of it that is handed out has the buffer as its ``base``."""

    def __init__(self) -> None:
        self._taken: dict[int, tuple[weakref.ref[Any], int]] = {}

    def joined(self, first: Any, new: Any) -> Any:
        """``first`` and ``new`` behind it: both of one type, ``new`` not larger in the other dimensions. ``first`` is
        copied only where there is no room behind it, or something else holds a part of its buffer."""
        end = self._end(first)
        buffer = first.base
        if end is None or end + len(new) > len(buffer):
            buffer = np.empty((2 * (len(first) + len(new)), *first.shape[1:]), first.dtype)
            buffer[: len(first)] = first
            end = len(first)
            self._taken[id(buffer)] = weakref.ref(buffer, self._forget(id(buffer))), end
        buffer[end : end + len(new)] = new
        self._taken[id(buffer)] = self._taken[id(buffer)][0], end + len(new)
        return buffer[end - len(first) : end + len(new)]

    def has(self, array: Any) -> bool:
        """Whether it is a part of a buffer."""
        kept = self._taken.get(id(array.base))
        return kept is not None and kept[0]() is array.base

    def _end(self, first: Any) -> int | None:
        """Behind which row of its buffer an array ends; None where others than it hold that, or rows follow."""
        buffer = first.base
        if not self.has(first) or sys.getrefcount(buffer) > _ALONE or first.shape[1:] != buffer.shape[1:]:
            return None
        taken = self._taken[id(buffer)][1]
        begin = buffer.ctypes.data + (taken - len(first)) * buffer.strides[0]
        return taken if first.ctypes.data == begin and first.strides == buffer.strides else None

    def _forget(self, key: int) -> Any:
        return lambda _: self._taken.pop(key, None)


def _alone() -> int:
    """What ``getrefcount`` says of a buffer that one array is a part of, here as in ``_end``: versions of Python
    differ."""
    view = np.empty(2)[:1]
    buffer = view.base
    return sys.getrefcount(buffer)


_ALONE = _alone()
