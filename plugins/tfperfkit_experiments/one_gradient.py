"""``one-gradient``: computes one gradient of the sum when a persistent tape is asked for the gradient of one loss after
another."""

from __future__ import annotations

import weakref
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import TAPE, Seams, zero_input


class OneGradient(Base):
    """Keeps the results if the script adds the gradients up; the comparison of results says whether it does.

    A call can't know whether another follows. So each call returns the gradient of all losses so far, and turns the
    results of the calls before it into zeros. Nothing needs what computed those any more, and TensorFlow leaves it out.
    """

    name = "one-gradient"
    keeps = "mathematics"
    remedies = (ReplaceOps("one_gradient"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change tapes in compiled functions: what has been computed already can't be left out."""
        tensorflow = seams.tensorflow
        #: For each tape, by its sources: these, the losses, and what the last call returned.
        asked: weakref.WeakKeyDictionary[Any, dict[Any, tuple[Any, list[Any], list[Any]]]] = weakref.WeakKeyDictionary()
        seams.refuse("no persistent tape was asked for several gradients of the same variables in a compiled function")

        def gradient(original: Any, tape: Any, target: Any, sources: Any, *arguments: Any, **named: Any) -> Any:
            flat = tensorflow.nest.flatten(sources)
            fixed = all(getattr(source, "shape", None) is not None and all(source.shape) for source in flat)
            if (
                arguments
                or named
                or not fixed
                or not tape._persistent
                or tensorflow.executing_eagerly()
                or not seams.called_by_user_graph()
            ):
                return original(tape, target, sources, *arguments, **named)
            key = id(tensorflow.compat.v1.get_default_graph()), *map(id, flat)
            _, losses, before = asked.setdefault(tape, {}).get(key, (flat, [], []))
            losses = [*losses, *tensorflow.nest.flatten(target)]
            found = [_replaceable(tensorflow, item) for item in original(tape, losses, flat)]
            if before:
                for item in before:
                    _make_zero(tensorflow, item)
                seams.applied()
            asked[tape][key] = flat, losses, found
            return tensorflow.nest.pack_sequence_as(sources, found)

        seams.replace(TAPE, "gradient", gradient)


def _replaceable(tensorflow: Any, gradient: Any) -> Any:
    """The gradient after an operation whose input can be replaced later."""
    if isinstance(gradient, tensorflow.IndexedSlices):
        values = tensorflow.identity(gradient.values)
        return tensorflow.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return None if gradient is None else tensorflow.identity(gradient)


def _make_zero(tensorflow: Any, gradient: Any) -> None:
    if gradient is None:
        return
    tensor = gradient.values if isinstance(gradient, tensorflow.IndexedSlices) else gradient
    zero_input(tensorflow, tensor.op)
