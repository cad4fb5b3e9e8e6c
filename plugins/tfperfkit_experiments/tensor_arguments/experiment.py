"""``tensor-arguments:FUNCTION``: Python numbers are handed to a compiled function as tensors: a new number is no new
trace."""

from __future__ import annotations

from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.on_function import OnFunction


class TensorArguments(OnFunction):
    """What Python decided by the number is decided in the graph, or fails."""

    name = "tensor-arguments"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "tensor-arguments:FUNCTION"
    codes = ("RET001",)

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.tensor_arguments.install import with_tensors

        return with_tensors(trial, function)
