"""``pad-to=MULTIPLE``: pads elements of a batch whose lengths vary with zeros to the next multiple, so that few sizes
are left."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.base import WithNumber
from tfperfkit_experiments.seams import Seams


class PadTo(WithNumber):
    """The zeros take part in what follows, unless the script masks them."""

    name = "pad-to"
    keeps = "nothing"
    usage = "pad-to=MULTIPLE"
    remedies = (KeepTrace("length"),)
    lowest, highest = 2, 100_000
    wanted = "a number from 2 on"
    usual = 32  # leaves few sizes, and little padding

    def apply(self, seams: Seams, change: Change) -> None:
        """Pad what a loop in user code or ``fit`` iterates. The number of examples in a batch is kept."""
        tensorflow, multiple = seams.tensorflow, int(change.value)

        def pad(tensor: Any, spec: Any) -> Any:
            if not _varies(spec):
                return tensor
            sizes = tensorflow.shape(tensor)
            more = [
                -sizes[axis] % multiple if axis and size is None else 0
                for axis, size in enumerate(spec.shape.as_list())
            ]
            zero = tensorflow.zeros([], tensor.dtype)
            return tensorflow.pad(tensor, [[0, size] for size in more], constant_values=zero)

        def padded(dataset: Any, length: int | None) -> Any:
            spec = getattr(dataset, "element_spec", None)
            if not any(_varies(item) for item in tensorflow.nest.flatten(spec)):
                seams.refuse("all elements of a batch have known sizes")
                return dataset

            def on_element(*parts: Any) -> Any:
                whole = parts if isinstance(spec, tuple) else parts[0]
                return tensorflow.nest.map_structure(pad, whole, spec)

            seams.applied()
            return dataset.map(on_element)

        seams.on_iteration(padded, keep=True)


def _varies(spec: Any) -> bool:
    """Whether a size other than that of the batch is not known."""
    shape = getattr(spec, "shape", None)
    if type(spec).__name__ != "TensorSpec" or shape is None or shape.rank is None:
        return False
    return any(size is None for size in shape.as_list()[1:])
