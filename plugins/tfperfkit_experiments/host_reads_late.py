"""``host-reads-late``: reads what the script's ``.numpy()`` returns when it is used, not when it is asked for."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Every
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

#: How many values are kept unread: by then the first has long been computed, and tensors hold memory.
_PENDING = 64


class HostReadsLate(Base):
    """Keeps the values. ``float(t)`` and ``if t:`` need theirs at once, so they stay."""

    name = "host-reads-late"
    keeps = "results"
    remedies = (Every("read"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``.numpy()`` in user files."""
        pending: collections.deque[Late] = collections.deque()

        def numpy(original: Any, tensor: Any) -> Any:
            if not seams.called_by_user():
                return original(tensor)
            late = Late(lambda: original(tensor))
            pending.append(late)
            if len(pending) > _PENDING:
                pending.popleft().value()
            seams.applied()
            return late

        seams.replace("tensorflow.python.framework.ops:_EagerTensorBase", "numpy", numpy)


class Late:
    """Stands for the array or the number that ``read`` returns, and reads it when it is first used."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read: Callable[[], Any] | None = read
        self._value: Any = None

    def value(self) -> Any:
        """Return the array or the number; read it on first use."""
        if self._read is not None:
            self._value, self._read = self._read(), None
        return self._value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy as np

        return np.asarray(self.value(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return getattr(ufunc, method)(*map(_read, inputs), **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by protocols that arrays have no part in
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __index__(self) -> int:
        return int(self.value().__index__())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __rdivmod__(self, other: Any) -> Any:
        return divmod(_read(other), self.value())

    def __setitem__(self, key: Any, item: Any) -> None:
        self.value()[key] = item

    def __reduce__(self) -> Any:
        import numpy as np

        return np.asarray(self.value()).__reduce__()


def _read(value: Any) -> Any:
    return value.value() if isinstance(value, Late) else value


def _forwarded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda late, *others: function(late.value(), *map(_read, others))


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda late, other: function(_read(other), late.value())


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
_OTHERS = ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "abs", "invert", "getitem")
for _name in (*_BINARY, *_OTHERS):
    setattr(Late, f"__{_name.strip('_')}__", _forwarded(getattr(operator, _name)))
for _name in _BINARY:
    setattr(Late, f"__r{_name.strip('_')}__", _reflected(getattr(operator, _name)))
    _inplace = f"__i{_name.strip('_')}__"
    setattr(Late, _inplace, _forwarded(getattr(operator, _inplace)))
for _function in (float, int, bool, len, round, hash, format, str, repr, divmod):
    setattr(Late, f"__{_function.__name__}__", _forwarded(_function))
