"""Multiplies batch sizes that the person's code hands over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import attribute, caller, seams

_DATASET = "tensorflow.python.data.ops.dataset_ops"
#: Keras' own, for arrays.
_USUAL = 32


@contextmanager
def install(trial: Trial, factor: int) -> Iterator[None]:
    """``Dataset.batch`` and ``padded_batch`` in the person's files, and ``fit`` with arrays."""

    def batching(original: Callable[..., Any]) -> Callable[..., Any]:
        def batch(dataset: Any, batch_size: Any, *arguments: Any, **named: Any) -> Any:
            if trial.is_user_code(caller().f_code.co_filename):
                trial.applied()
                batch_size = batch_size * factor
            return original(dataset, batch_size, *arguments, **named)

        return batch

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        def fit(model: Any, x: Any = None, y: Any = None, batch_size: Any = None, *arguments: Any, **named: Any) -> Any:
            if batch_size is not None or hasattr(x, "shape"):
                trial.applied()
                batch_size = (batch_size or _USUAL) * factor
            return original(model, x, y, batch_size, *arguments, **named)

        return fit

    with seams() as made:
        dataset = attribute(_DATASET, "DatasetV2")
        for name in ("batch", "padded_batch"):
            made.replace(dataset, name, batching)

        def keras() -> None:
            for owner in having("fit"):
                made.replace(owner, "fit", fitting)

        trial.when_keras(keras)
        yield
