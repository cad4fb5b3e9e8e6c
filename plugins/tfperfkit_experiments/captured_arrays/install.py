"""What makes a constant of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, module, seams

#: From so many bytes on the advice of the findings is given.
_LARGE = 1 << 20


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Arrays only: of a list each use may be another."""
    tensorflow: Any = module("tensorflow")
    function_graph = attribute("tensorflow.python.framework.func_graph", "FuncGraph")
    made: dict[tuple[int, Any], tuple[Any, Any]] = {}  # with the array, so that no other gets its place

    def constant(original: Callable[..., Any]) -> Callable[..., Any]:
        def _constant_impl(value: Any, dtype: Any, shape: Any, *others: Any, **named: Any) -> Any:
            large = isinstance(value, np.ndarray) and value.nbytes >= _LARGE and shape is None
            graph = tensorflow.compat.v1.get_default_graph() if large else None
            if not isinstance(graph, function_graph) or not tensorflow.compat.v1.executing_eagerly_outside_functions():
                return original(value, dtype, shape, *others, **named)
            key = id(value), dtype
            if key not in made:
                with tensorflow.init_scope():
                    made[key] = value, original(value, dtype, shape, *others, **named)
            trial.applied()
            return graph.capture(made[key][1])

        return _constant_impl

    trial.refuse("no array of a megabyte was used inside a compiled function")
    with seams() as replaced:
        replaced.replace(module("tensorflow.python.framework.constant_op"), "_constant_impl", constant)
        yield
