"""How the arguments of a concrete function change from call to call, over its first calls.

``follow`` covers the method of the one ConcreteFunction, as ``first_run`` does; after ``MAX`` calls, or where somebody
else needs the place, it is taken off again, and later calls run the very same path as without us. Tensors are compared
by identity, then by what lies in the host's memory: nothing is kept alive, and no operation is run. Of sequences of
whole numbers the padding is measured, over the rows of these calls.
"""

from __future__ import annotations

import sys
import weakref
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from tfperfkit.instruments.graphs.first_run import executing
from tfperfkit.instruments.graphs.zeros import zeros_of
from tfperfkit.instruments.hooks import frames
from tfperfkit.instruments.padding import MAX_ROWS, padding_of
from tfperfkit.records.pipelines import Padding

_ATTRIBUTE = "_call_flat"
#: Calls that are looked at, the first one among them.
MAX = 33
#: A larger tensor that is another object than in the call before is compared by a sample of its bytes.
_KEPT_BYTES = 1 << 18
_SAMPLES = 1 << 10
#: Shorter sequences take no time, and may go on by chance.
_MIN_WIDTH = 8
_HANDLES = ("resource", "variant", "string")


class Compared(NamedTuple):
    """``calls`` that were looked at. For each argument, in how many of them but the first it was the ``same`` as in the
    call before, or had ``grown``: the tensor before is its beginning along one axis, or one more place of its padding
    is filled, and nothing else has changed.
    ``padding``: of sequences of one width, None of anything else. ``zeros``: the share of zeros of those arguments that
    were nearly all zeros in each call, by their numbers."""

    calls: int
    same: list[int]
    grown: list[int]
    padding: list[Padding | None]
    zeros: dict[int, float] = {}


class _Argument:
    """Facts about an argument's tensor in the call before."""

    __slots__ = ("array", "batch", "grown", "mark", "reference", "rows", "same", "width", "zeros")

    def __init__(self) -> None:
        self.reference: weakref.ref[Any] | None = None
        self.array: Any = None
        self.mark: tuple[Any, ...] | None = None
        self.same = self.grown = 0
        self.rows: list[Any] = []
        self.batch = self.width = 0
        self.zeros = 1.0

    def look(self, tensor: Any, first: bool) -> None:
        if self.reference is not None and self.reference() is tensor:
            self.same += 1
            return
        self.reference = weakref.ref(tensor)
        if self.zeros:  # else it was full once
            self.zeros = min(self.zeros, zeros_of(tensor))
        array, mark = _contents(tensor)
        self._keep_rows(array)
        if not first and mark is not None:
            if mark == self.mark:
                self.same += 1
            elif self.array is not None and array is not None and _goes_on(array, self.array):
                self.grown += 1
        self.array, self.mark = array, mark

    def _keep_rows(self, array: Any) -> None:
        """Keep sequences of whole numbers, all of one width, until there are enough."""
        if array is None or array.ndim != 2 or array.dtype.kind not in "iu":
            return
        self.width, self.batch = self.width or array.shape[1], self.batch or array.shape[0]
        if array.shape[1] != self.width:
            self.rows, self.width = [], -1  # of varying width: padded to no fixed one
        elif sum(map(len, self.rows)) < MAX_ROWS:
            self.rows.append(array)

    def padding(self) -> Padding | None:
        numpy = sys.modules.get("numpy")
        return padding_of(numpy.concatenate(self.rows), self.batch) if numpy is not None and self.rows else None


class _Following:
    """Hook on a ConcreteFunction while its arguments are compared. Holds it weakly: it is held by it."""

    __slots__ = ("_arguments", "_calls", "_concrete", "_on_end")

    def __init__(self, concrete: Any, tensors: tuple[Any, ...], on_end: Callable[[Compared], None]) -> None:
        self._concrete = weakref.ref(concrete)
        self._on_end = on_end
        self._arguments = [_Argument() for _ in tensors]
        self._calls = 0
        self._look(tensors)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        concrete = self._concrete()
        method = getattr(type(concrete), _ATTRIBUTE).__get__(concrete)
        if executing():
            try:
                self._look(tuple(arguments[0] if arguments else keywords.get("tensor_inputs", ())))
            except Exception:
                self.end()
        try:
            return method(*arguments, **keywords)
        except BaseException as error:
            error.__traceback__ = frames.without_own_head(error.__traceback__)
            raise

    def _look(self, tensors: tuple[Any, ...]) -> None:
        for argument, tensor in zip(self._arguments, tensors, strict=True):
            argument.look(tensor, not self._calls)
        self._calls += 1
        if self._calls >= MAX:
            self.end()

    def end(self) -> None:
        """Take this off and say what was seen; once."""
        concrete = self._concrete()
        if concrete is not None and vars(concrete).get(_ATTRIBUTE) is self:
            delattr(concrete, _ATTRIBUTE)
        on_end, self._on_end = self._on_end, _nothing
        if self._calls > 1:
            on_end(
                Compared(
                    self._calls,
                    [argument.same for argument in self._arguments],
                    [argument.grown for argument in self._arguments],
                    [argument.padding() for argument in self._arguments],
                    {number: argument.zeros for number, argument in enumerate(self._arguments) if argument.zeros},
                )
            )
        self._arguments = []


def follow(concrete: Any, tensors: tuple[Any, ...], on_end: Callable[[Compared], None]) -> Callable[[], None] | None:
    """Look at the calls of ``concrete`` from now on; ``tensors``: the arguments of the one before, without captures.

    ``on_end`` is called once, when that ends and there were two calls or more. Gives what ends it early; None where
    there is nothing to follow: no tensors among the arguments, or the place is taken.
    """
    if not any(_has_values(tensor) for tensor in tensors) or _ATTRIBUTE in vars(concrete):
        return None
    following = _Following(concrete, tensors, on_end)
    try:
        setattr(concrete, _ATTRIBUTE, following)
    except (AttributeError, TypeError):
        return None
    return following.end


def release(concrete: Any) -> None:
    """Give the place on a ConcreteFunction up for somebody else."""
    following = vars(concrete).get(_ATTRIBUTE)
    if isinstance(following, _Following):
        following.end()


def _nothing(compared: Compared) -> None:
    pass


def _has_values(tensor: Any) -> bool:
    return getattr(getattr(tensor, "dtype", None), "name", "resource") not in _HANDLES


def _contents(tensor: Any) -> tuple[Any, tuple[Any, ...] | None]:
    """(a copy of a small tensor, what tells its values); None for what does not lie in the host's memory."""
    read = getattr(tensor, "_numpy_internal", None)  # a variable that is handed over has none
    if read is None or not _has_values(tensor) or not str(getattr(tensor, "device", "")).endswith("CPU:0"):
        return None, None
    array = read()
    return (array.copy() if array.nbytes <= _KEPT_BYTES else None), mark_of(array)


def mark_of(array: Any) -> tuple[Any, ...]:
    """Return a fingerprint that differs between arrays with different values; a large array is fingerprinted by a
    sample.
    """
    sample = array if array.nbytes <= _KEPT_BYTES else array.reshape(-1)[:: max(1, array.size // _SAMPLES) | 1]
    return array.dtype.str, array.shape, zlib.crc32(sample.tobytes())


def _goes_on(new: Any, old: Any) -> bool:
    return _extends(new, old) or _fills(new, old)


def _fills(new: Any, old: Any) -> bool:
    """Return whether ``new`` is ``old`` with one more place of its padding filled: behind what there was, or, of
    numbers that are padded in front, after they all moved by one. Whole numbers only: of others none tells that it is
    padding."""
    if new.dtype != old.dtype or new.shape != old.shape or new.dtype.kind not in "iu" or not new.ndim:
        return False
    if new.shape[-1] < _MIN_WIDTH:
        return False
    changed = (new != old).reshape(-1, new.shape[-1]).any(axis=0).nonzero()[0]
    at = int(changed[0]) if len(changed) else 0
    if len(changed) == 1 and at < new.shape[-1] - 1:
        return bool((old[..., at:] == old[..., -1:]).all())
    padding = old[..., :2]
    return bool((padding == padding[..., :1]).all() and (new[..., :-1] == old[..., 1:]).all())


def _extends(new: Any, old: Any) -> bool:
    """Return whether ``old`` is the beginning of ``new`` along the one axis in which they differ."""
    if new.dtype != old.dtype or new.ndim != old.ndim or not old.size:
        return False
    axes = [axis for axis in range(new.ndim) if new.shape[axis] != old.shape[axis]]
    if len(axes) != 1 or new.shape[axes[0]] < old.shape[axes[0]]:
        return False
    return bool((new[tuple(slice(size) for size in old.shape)] == old).all())
