"""``python-calls=last``: runs a user function that a graph calls (``tf.numpy_function``) twice for inputs of the same
shapes, then reuses its last result."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ChangeStage, ReplaceOps
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.on_function import last_results
from tfperfkit_experiments.seams import Seams


class PythonCalls(WithChoice):
    """``tf.py_function`` stays, since gradients go through it; so do generators of ``from_generator``."""

    name = "python-calls"
    keeps = "ceiling"
    usage = "python-calls=last"
    remedies = (ReplaceOps("tensorflow"), ChangeStage("less_python"))
    choices = ("last",)
    wanted = "last"

    def apply(self, seams: Seams, change: Change) -> None:
        """Wrap the functions as their operations are made."""
        seams.refuse("no graph of the script's calls a function of its own by tf.numpy_function")

        def py_func(original: Any, func: Any, *arguments: Any, **named: Any) -> Any:
            code = seams.code_of(func)
            differentiable = named.get("use_eager_py_func") or len(arguments) > 3 and arguments[3]
            if code is not None and not differentiable and seams.is_user_code(code.co_filename):
                func = last_results(seams, func, _shapes)
            return original(func, *arguments, **named)

        seams.replace("tensorflow.python.ops.script_ops", "_internal_py_func", py_func)


def _shapes(*values: Any) -> tuple[Any, ...]:
    return tuple(getattr(value, "shape", None) for value in values)
