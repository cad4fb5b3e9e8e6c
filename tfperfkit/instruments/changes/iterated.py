"""Datasets as they begin to feed training: in a loop of the person's, or in ``fit``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tfperfkit.instruments.changes.replaced import Seams, attribute, caller, module

_DATASET = "tensorflow.python.data.ops.dataset_ops"
_FIT = "keras.src.backend.tensorflow.trainer"


class Watching(Protocol):
    """What is needed of a trial."""

    def when_keras(self, callback: Callable[[], object]) -> None: ...
    def is_user_code(self, filename: str) -> bool: ...


def on_iteration(seams: Seams, trial: Watching, change: Callable[[Any, int | None], Any]) -> None:
    """``change(dataset, length)`` gives what is iterated in its place; the length is None where it is not known.
    Validation is left as it is."""

    def iterating(original: Callable[..., Any]) -> Callable[..., Any]:
        def __iter__(dataset: Any) -> Any:
            if trial.is_user_code(caller().f_code.co_filename) and module("tensorflow").executing_eagerly():
                length = int(dataset.cardinality())
                return original(change(dataset, length if length > 0 else None))
            return original(dataset)

        return __iter__

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        def __init__(iterator: Any, *arguments: Any, **named: Any) -> None:
            original(iterator, *arguments, **named)
            dataset = iterator._distributed_dataset
            if caller().f_code.co_name == "fit" and hasattr(dataset, "take"):
                iterator._distributed_dataset = change(dataset, iterator.num_batches)

        return __init__

    seams.replace(attribute(_DATASET, "DatasetV2"), "__iter__", iterating)
    trial.when_keras(lambda: seams.replace(attribute(_FIT, "TFEpochIterator"), "__init__", fitting))
