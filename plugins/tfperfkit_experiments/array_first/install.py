"""Lists of arrays on their way into a tensor: ``tf.constant``, what converts by it, and ``tf.stack``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Eagerly: in a graph a constant is made once."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no tensor was made of a list of arrays of one shape and type")

    def converting(original: Callable[..., Any]) -> Callable[..., Any]:
        def convert_to_eager_tensor(value: Any, *arguments: Any, **named: Any) -> Any:
            return original(_whole(trial, value), *arguments, **named)

        return convert_to_eager_tensor

    def stacking(original: Callable[..., Any]) -> Callable[..., Any]:
        def stack(values: Any, axis: Any = 0, name: Any = "stack") -> Any:
            whole = _whole(trial, values) if axis == 0 and tensorflow.executing_eagerly() else values
            return original(values, axis, name) if whole is values else tensorflow.convert_to_tensor(whole)

        return stack

    with seams() as made:
        made.replace(module("tensorflow.python.framework.constant_op"), "convert_to_eager_tensor", converting)
        made.replace(tensorflow, "stack", stacking)
        yield


def _whole(trial: Trial, value: Any) -> Any:
    """One array of a list of arrays that are alike; anything else as it is."""
    if not isinstance(value, (list, tuple)) or len(value) < 2 or type(value[0]) is not np.ndarray:
        return value
    first = value[0]
    if first.dtype.hasobject or any(
        type(item) is not np.ndarray or item.shape != first.shape or item.dtype != first.dtype for item in value
    ):
        return value
    trial.applied()
    return np.stack(value)
