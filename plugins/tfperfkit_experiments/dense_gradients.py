"""``dense-gradients``: under a distribution strategy, gives Keras optimizers the gradients of tables as whole tensors,
which replicas add up, instead of rows, which are gathered."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class DenseGradients(Base):
    """Lazy optimizers, which skip rows that were not looked up, train differently."""

    name = "dense-gradients"
    keeps = "mathematics"
    remedies = (ReplaceOps("whole_gradient"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change what optimizers get if there are several replicas."""
        tensorflow = seams.tensorflow
        seams.refuse("no optimizer of several replicas was given a gradient that is rows of a table")

        def whole(gradient: Any) -> Any:
            if not isinstance(gradient, tensorflow.IndexedSlices):
                return gradient
            seams.applied()
            return tensorflow.convert_to_tensor(gradient)

        def apply(original: Any, optimizer: Any, grads: Any, *arguments: Any, **named: Any) -> Any:
            if tensorflow.distribute.get_strategy().num_replicas_in_sync > 1:
                grads = [whole(gradient) for gradient in grads]
            return original(optimizer, grads, *arguments, **named)

        seams.replace_in_keras("keras.src.optimizers.base_optimizer:BaseOptimizer", "apply", apply)
