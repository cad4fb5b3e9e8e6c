"""``without-frozen``: lets Keras layers that are not trained return zeros in compiled functions. This times the step as
if their results had been kept."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import LAYER, Seams


class WithoutFrozen(Base):
    """Not quite a ceiling: the input of the layers is still read, and kept features may be smaller than it.

    A layer's operations stay in the graph. Nothing needs it any more, so it is not run.
    """

    name = "without-frozen"
    keeps = "ceiling"
    remedies = (ReplaceOps("kept_results"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change layers that have weights and train none of them, as they are called in a graph."""
        tensorflow = seams.tensorflow
        seams.refuse("no layer with weights, none of them trained, was called in a compiled function")

        def zeros(given: Any, result: Any) -> Any:
            sizes = result.shape.as_list()[1:] if result.shape.rank else [None]
            if None in sizes:
                seams.refuse("the sizes of what a frozen layer gives are not known")
                return result
            seams.applied()
            return tensorflow.zeros([tensorflow.shape(given)[0], *sizes], result.dtype)

        def call(original: Any, layer: Any, /, *arguments: Any, **named: Any) -> Any:
            result = original(layer, *arguments, **named)
            given: Any = arguments[0] if arguments else None
            if tensorflow.executing_eagerly() or not tensorflow.is_tensor(given) or not given.shape.rank:
                return result
            if not layer.weights or layer.trainable_weights:
                return result
            return tensorflow.nest.map_structure(lambda part: zeros(given, part), result)

        seams.replace_in_keras(LAYER, "__call__", call)
