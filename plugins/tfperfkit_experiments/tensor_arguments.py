"""``tensor-arguments:FUNCTION``: passes Python numbers to a compiled function as tensors, so that a new number is no
new trace."""

from __future__ import annotations

from typing import Any

from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.on_function import OnFunction, WithArguments
from tfperfkit_experiments.seams import Seams


class TensorArguments(OnFunction):
    """A decision that Python made by the number is made in the graph, or fails."""

    name = "tensor-arguments"
    keeps = "mathematics"
    usage = "tensor-arguments:FUNCTION"
    remedies = (KeepTrace("number"),)
    compiled = True

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Convert ints and floats; booleans stay, since they choose between ways through the code."""
        tensorflow = seams.tensorflow
        first: dict[Any, Any] = {}

        def convert(place: Any, value: Any) -> Any:
            if type(value) not in (int, float):
                return value
            if first.setdefault(place, value) != value:
                seams.applied()
            return tensorflow.constant(value)

        def converted(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
            positional = tuple(convert(place, value) for place, value in enumerate(arguments))
            return positional, {name: convert(name, value) for name, value in named.items()}

        return WithArguments(function, converted)
