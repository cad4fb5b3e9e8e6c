"""NumPy's functions that join arrays along the first axis, as the person's code calls them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import caller, seams
from tfperfkit_experiments.grow_in_place.room import Room

_Place = tuple[str, int]


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """From the second turn on: what is joined only once keeps its own memory."""
    trial.refuse("no array was made longer turn by turn by append, concatenate, vstack or hstack of NumPy")
    room, made_at = Room(), dict[_Place, weakref.ref[Any]]()

    def grown(place: _Place, parts: Any) -> Any:
        """None where it is to be joined as it was."""
        first, others = parts[0], parts[1:]
        last = made_at[place]() if place in made_at else None
        if not room.has(first) and (last is None or (first is not last and first.base is not last)):
            return None
        new = others[0] if len(others) == 1 else np.concatenate(others)
        if new.ndim != first.ndim or new.shape[1:] != first.shape[1:] or np.result_type(first, new) != first.dtype:
            return None
        trial.applied()
        return room.joined(first, new)

    def joining(original: Callable[..., Any], parts_of: Callable[..., Any]) -> Callable[..., Any]:
        def join(*arguments: Any, **named: Any) -> Any:
            frame = caller()
            if not trial.is_user_code(frame.f_code.co_filename):
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

        return join

    with seams() as made:
        for name, parts_of in _PARTS.items():
            original = getattr(np, name)
            setattr(np, name, joining(original, parts_of))
            made.callback(partial(setattr, np, name, original))
        yield


def _arrays(arrays: Any) -> Any:
    """Two of them or more, the first one of NumPy's own; None where another class may join in its own way."""
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
    return [parts[0], *(np.atleast_2d(item) for item in parts[1:])]


def _of_hstack(tup: Any, **named: Any) -> Any:
    parts = _arrays(tup) if not named else None
    if parts is None or parts[0].ndim != 1:
        return None
    return [parts[0], *(np.atleast_1d(item) for item in parts[1:])]


_PARTS: dict[str, Callable[..., Any]] = {
    "append": _of_append,
    "concatenate": _of_concatenate,
    "vstack": _of_vstack,
    "hstack": _of_hstack,
}
