"""Operations that Python calls one by one, and calls of compiled functions: TensorFlow has a callback for them."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.user_code import Origin

#: Names under which compiled functions are called.
_FUNCTIONS = ("__inference_", "__forward_", "__backward_", "PartitionedCall", "StatefulPartitionedCall")
#: Making a dataset and taking from it is the input's affair: each batch is such an operation.
_INPUT = ("Dataset", "Iterator")


class OperationCounter:
    """Counts from ``start`` to ``stop``, on all threads. ``found``: by type and the person's line."""

    def __init__(self) -> None:
        self.found: Counter[tuple[str, str, int]] = Counter()
        self.function_calls = 0
        self._origin = Origin()

    def start(self) -> None:
        """Raises Unavailable where TensorFlow is not imported or has no such callback."""
        if "tensorflow" not in sys.modules:
            raise Unavailable("TensorFlow is not imported, so there are no operations to count")
        try:
            from tensorflow.python.framework import op_callbacks

            op_callbacks.add_op_callback(self._seen)
        except (ImportError, AttributeError, TypeError) as error:
            raise Unavailable(f"operations can't be seen in this TensorFlow: {error}") from error

    def stop(self) -> None:
        """Also right where the script has cleared all callbacks."""
        from tensorflow.python.framework import op_callbacks

        try:
            op_callbacks.remove_op_callback(self._seen)
        except (KeyError, ValueError):
            pass

    def _seen(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        if graph is not None:  # an operation of a graph that is being built
            return
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        if name.startswith(_FUNCTIONS):
            self.function_calls += 1
        elif not any(word in name for word in _INPUT):
            from tfperfkit.instruments.stacks.user_line import user_line

            (file, line, _), _ = user_line(sys._getframe(1), self._origin.is_user)
            self.found[name, file, line] += 1
