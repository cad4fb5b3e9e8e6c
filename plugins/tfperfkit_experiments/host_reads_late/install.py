"""Values of eager tensors that are read when something is done with them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, caller, seams

#: So many are kept unread at most: by then the first has long been computed, and tensors hold memory.
_PENDING = 64


class Late(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for the array or the number that ``read`` gives, and reads it the first time that it is used."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self._read: Callable[[], Any] | None = read
        self._value: Any = None

    def value(self) -> Any:
        """What it stands for."""
        if self._read is not None:
            self._value, self._read = self._read(), None
        return self._value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        given = (item.value() if isinstance(item, Late) else item for item in inputs)
        return getattr(ufunc, method)(*given, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by protocols that arrays have no part in
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __index__(self) -> int:
        return int(self.value().__index__())

    def __bool__(self) -> bool:
        return bool(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __getitem__(self, key: Any) -> Any:
        return self.value()[key]

    def __setitem__(self, key: Any, item: Any) -> None:
        self.value()[key] = item

    def __round__(self, *digits: Any) -> Any:
        return round(self.value(), *digits)

    def __hash__(self) -> int:
        return hash(self.value())

    def __format__(self, form: str) -> str:
        return format(self.value(), form)

    def __str__(self) -> str:
        return str(self.value())

    def __repr__(self) -> str:
        return repr(self.value())

    def __reduce__(self) -> Any:
        return np.asarray(self.value()).__reduce__()


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """On ``.numpy()`` in the person's files."""
    pending: collections.deque[Late] = collections.deque()

    def reading(original: Callable[..., Any]) -> Callable[..., Any]:
        def numpy(tensor: Any) -> Any:
            if not trial.is_user_code(caller().f_code.co_filename):
                return original(tensor)
            late = Late(lambda: original(tensor))
            pending.append(late)
            if len(pending) > _PENDING:
                pending.popleft().value()
            trial.applied()
            return late

        return numpy

    with seams() as made:
        made.replace(attribute("tensorflow.python.framework.ops", "_EagerTensorBase"), "numpy", reading)
        yield
