"""``grow-in-place``: gives a NumPy array that the script extends by a few rows in each iteration room to grow."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

_Place = tuple[str, int]


class GrowInPlace(Base):
    """Keeps the numbers if the script drops the array before, as ``x = np.append(x, new)`` does."""

    name = "grow-in-place"
    keeps = "results"
    remedies = (ReplaceOps("array_in_place"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change NumPy's functions that join arrays along the first axis, from the second join on a line on: what is
        joined only once keeps its own memory."""
        import numpy as np

        seams.refuse("no array was made longer in each iteration by append, concatenate, vstack or hstack of NumPy")
        room, made_at = Room(), dict[_Place, weakref.ref[Any]]()

        def grown(place: _Place, parts: Any) -> Any:
            """The joined array; None if NumPy has to join it."""
            first, others = parts[0], parts[1:]
            last = made_at[place]() if place in made_at else None
            if not room.has(first) and (last is None or (first is not last and first.base is not last)):
                return None
            new = others[0] if len(others) == 1 else np.concatenate(others)
            if new.ndim != first.ndim or new.shape[1:] != first.shape[1:] or np.result_type(first, new) != first.dtype:
                return None
            seams.applied()
            return room.joined(first, new)

        def join(original: Any, parts_of: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
            frame = seams.caller()
            if not seams.is_user_code(frame.f_code.co_filename):
                return original(*arguments, **named)
            place = frame.f_code.co_filename, frame.f_lineno
            del frame
            parts = parts_of(*arguments, **named)
            found = grown(place, parts) if parts is not None else None
            if found is None:
                found = original(*arguments, **named)
            if type(found) is np.ndarray:
                made_at[place] = weakref.ref(found)
            return found

        for name, parts_of in _PARTS.items():
            original = getattr(np, name)  # no plain function, so it is replaced by hand
            setattr(np, name, partial(join, original, parts_of))
            seams.at_end(partial(setattr, np, name, original))


class Room:
    """Arrays with room after their last row: which rows of which buffer are taken. An array that is part of a buffer
    has it as its ``base``."""

    def __init__(self) -> None:
        self._taken: dict[int, tuple[weakref.ref[Any], int]] = {}

    def joined(self, first: Any, new: Any) -> Any:
        """``first`` and ``new`` after it: both of one type, ``new`` not larger in the other dimensions. Copies
        ``first`` only if there is no room after it, or something else holds a part of its buffer."""
        import numpy as np

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
        """The row of its buffer after which an array ends; None if other arrays hold the buffer, or rows follow."""
        buffer = first.base
        if not self.has(first) or sys.getrefcount(buffer) > _references() or first.shape[1:] != buffer.shape[1:]:
            return None
        taken = self._taken[id(buffer)][1]
        begin = buffer.ctypes.data + (taken - len(first)) * buffer.strides[0]
        return taken if first.ctypes.data == begin and first.strides == buffer.strides else None

    def _forget(self, key: int) -> Any:
        return lambda _: self._taken.pop(key, None)


def _references() -> int:
    """Return the count of ``getrefcount`` for a buffer of which one array is a part, called as in ``_end``. Versions of
    Python differ."""
    import numpy as np

    view = np.empty(2)[:1]
    buffer = view.base
    return sys.getrefcount(buffer)


def _arrays(arrays: Any) -> Any:
    """Two arrays or more, the first one of NumPy's own; None if another class may join in its own way."""
    import numpy as np

    if not isinstance(arrays, (list, tuple)) or len(arrays) < 2 or type(arrays[0]) is not np.ndarray:
        return None
    if any(type(item) is not np.ndarray and hasattr(item, "__array_function__") for item in arrays):
        return None
    return [np.asarray(item) for item in arrays]


def _of_append(arr: Any, values: Any, axis: Any = None) -> Any:
    parts = _arrays([arr, values])
    if parts is None or not (axis == 0 or (axis is None and parts[0].ndim == 1)):
        return None
    return parts if axis == 0 else [parts[0], parts[1].ravel()]


def _of_concatenate(arrays: Any, axis: Any = 0, *others: Any, **named: Any) -> Any:
    return _arrays(arrays) if axis == 0 and not others and not named else None


def _of_vstack(tup: Any, **named: Any) -> Any:
    parts = _arrays(tup) if not named else None
    if parts is None or parts[0].ndim < 2:
        return None
    return [item if item.ndim > 1 else item.reshape(1, -1) for item in parts]


def _of_hstack(tup: Any, **named: Any) -> Any:
    parts = _arrays(tup) if not named else None
    if parts is None or parts[0].ndim != 1:
        return None
    return [item if item.ndim else item.reshape(1) for item in parts]


#: The parts that each function joins along the first axis; None if it joins otherwise.
_PARTS: dict[str, Callable[..., Any]] = {
    "append": _of_append,
    "concatenate": _of_concatenate,
    "vstack": _of_vstack,
    "hstack": _of_hstack,
}
