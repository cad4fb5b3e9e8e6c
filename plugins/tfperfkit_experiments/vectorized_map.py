"""``vectorized-map``: computes all rows of ``tf.map_fn`` in a compiled function at once, as ``tf.vectorized_map``
does."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class VectorizedMap(Base):
    """Leave as it is whatever can't be vectorised."""

    name = "vectorized-map"
    keeps = "mathematics"
    remedies = (ReplaceOps("all_rows"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Replace ``tf.map_fn`` where a function is traced. In eager code it would be traced in each call; with a
        signature of other types rows may differ."""
        tensorflow = seams.tensorflow

        # AutoGraph takes the replacement for TensorFlow's own: it has the original's module.
        def map_fn(original: Any, fn: Any, elems: Any, *arguments: Any, **named: Any) -> Any:
            plain = not arguments and not {"dtype", "fn_output_signature"} & {key for key in named if named[key]}
            if plain and not tensorflow.executing_eagerly():
                try:
                    made = tensorflow.vectorized_map(fn, elems)
                except (ValueError, TypeError, NotImplementedError):
                    return original(fn, elems, *arguments, **named)
                seams.applied()
                return made
            return original(fn, elems, *arguments, **named)

        seams.replace(tensorflow, "map_fn", map_fn)
