"""``array-first``: makes one NumPy array of a list of arrays, which TensorFlow then copies as a whole."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class ArrayFirst(Base):
    """Joins arrays of one shape and one type only, so the numbers are the same."""

    name = "array-first"
    keeps = "results"
    remedies = (ReplaceOps("array"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``tf.constant``, what converts by it, and ``tf.stack``, in eager code: a graph makes a constant
        once."""
        tensorflow = seams.tensorflow
        seams.refuse("no tensor was made of a list of arrays of one shape and type")

        def convert(original: Any, value: Any, *arguments: Any, **named: Any) -> Any:
            return original(_joined(seams, value), *arguments, **named)

        def stack(original: Any, values: Any, axis: Any = 0, name: Any = "stack") -> Any:
            joined = _joined(seams, values) if axis == 0 and tensorflow.executing_eagerly() else values
            return original(values, axis, name) if joined is values else tensorflow.convert_to_tensor(joined)

        seams.replace("tensorflow.python.framework.constant_op", "convert_to_eager_tensor", convert)
        seams.replace(tensorflow, "stack", stack)


def _joined(seams: Seams, value: Any) -> Any:
    """One array of a list of arrays that are alike; anything else as it is."""
    import numpy as np

    if not isinstance(value, (list, tuple)) or len(value) < 2 or type(value[0]) is not np.ndarray:
        return value
    first = value[0]
    if first.dtype.hasobject or any(
        type(item) is not np.ndarray or item.shape != first.shape or item.dtype != first.dtype for item in value
    ):
        return value
    seams.applied()
    return np.stack(value)
