"""``row-gradients``: keeps gradients that are rows of a table as they are, where the script calls
``tf.convert_to_tensor`` for them."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class RowGradients(Base):
    """If the script then computes with such a gradient as with a tensor, it fails."""

    name = "row-gradients"
    keeps = "mathematics"
    remedies = (ReplaceOps("gradient_rows"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``tf.convert_to_tensor`` in user files, under any strategy: updating rows is cheaper without replicas,
        too."""
        tensorflow = seams.tensorflow
        seams.refuse("no tf.convert_to_tensor of the script's was given rows of a table")

        def convert_to_tensor(original: Any, value: Any, *arguments: Any, **named: Any) -> Any:
            if isinstance(value, tensorflow.IndexedSlices) and seams.called_by_user_graph():
                seams.applied()
                return value
            return original(value, *arguments, **named)

        seams.replace(tensorflow, "convert_to_tensor", convert_to_tensor)
