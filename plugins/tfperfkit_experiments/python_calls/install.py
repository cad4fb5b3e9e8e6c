"""Functions behind ``tf.numpy_function`` that are answered for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module, seams
from tfperfkit.instruments.steps.updates import own_code

#: So often it runs, so that what it makes at first is made.
_RUNS = 2


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Generators of ``from_generator`` are called by code of TensorFlow's own, and stay."""
    trial.refuse("no graph of the script's calls a function of its own by tf.numpy_function")

    def calling(original: Callable[..., Any]) -> Callable[..., Any]:
        def _internal_py_func(func: Any, *arguments: Any, **named: Any) -> Any:
            code = own_code(func)
            differentiable = named.get("use_eager_py_func") or len(arguments) > 3 and arguments[3]
            if code is not None and not differentiable and trial.is_user_code(code.co_filename):
                func = answered(trial, func)
            return original(func, *arguments, **named)

        return _internal_py_func

    with seams() as made:
        made.replace(module("tensorflow.python.ops.script_ops"), "_internal_py_func", calling)
        yield


def answered(trial: Trial, function: Callable[..., Any]) -> Callable[..., Any]:
    """By the last result for inputs of these shapes."""
    seen: dict[Any, tuple[int, Any]] = {}

    @functools.wraps(function)
    def answer(*values: Any) -> Any:
        key = tuple(getattr(value, "shape", None) for value in values)
        done, last = seen.get(key, (0, None))
        if done < _RUNS:
            last = function(*values)
            seen[key] = done + 1, last
        else:
            trial.applied()
        return last

    return answer
