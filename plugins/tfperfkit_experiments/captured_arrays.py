"""``captured-arrays``: turns a large NumPy array that a compiled function uses into a tensor once, instead of a
constant of each graph."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Hoist
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

#: The size in bytes from which the findings advise it.
_LARGE = 1 << 20


class CapturedArrays(Base):
    """Keeps the values. It changes tracing and the first run, so the whole run is timed."""

    name = "captured-arrays"
    keeps = "results"
    remedies = (Hoist("array"),)
    whole_run = True

    def apply(self, seams: Seams, change: Change) -> None:
        """Capture a tensor where a graph would make a constant of an array. Lists may change from use to use."""
        import numpy as np

        tensorflow = seams.tensorflow
        function_graph = seams.find("tensorflow.python.framework.func_graph:FuncGraph")
        made: dict[tuple[int, Any], tuple[Any, Any]] = {}  # with the array, so that no other gets its id

        def constant(original: Any, value: Any, dtype: Any, shape: Any, *others: Any, **named: Any) -> Any:
            large = isinstance(value, np.ndarray) and value.nbytes >= _LARGE and shape is None
            graph = tensorflow.compat.v1.get_default_graph() if large else None
            if not isinstance(graph, function_graph) or not tensorflow.compat.v1.executing_eagerly_outside_functions():
                return original(value, dtype, shape, *others, **named)
            key = id(value), dtype
            if key not in made:
                with tensorflow.init_scope():
                    made[key] = value, original(value, dtype, shape, *others, **named)
            seams.applied()
            return graph.capture(made[key][1])

        seams.refuse("no array of a megabyte was used inside a compiled function")
        seams.replace("tensorflow.python.framework.constant_op", "_constant_impl", constant)
