"""``fit`` with a dataset for its validation that is repeated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import module, seams
from tfperfkit_experiments.stages import KEEPS, constant, stages


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Where tf.data knows how many elements there are before they are repeated."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no validation of fit goes through a repeated dataset of a known length several times")

    def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def fit(*arguments: Any, **named: Any) -> Any:
            given = signature.bind(*arguments, **named)
            held = given.arguments
            data: Any = held.get("validation_data")
            once = batches_of_a_pass(data) if isinstance(data, tensorflow.data.Dataset) else None
            if once is not None and once < (held.get("validation_steps") or int(data.cardinality())):
                held["validation_steps"] = once
                trial.applied()
            return original(*given.args, **given.kwargs)

        return fit

    with seams() as made:

        def keras() -> None:
            for owner in having("fit"):
                made.replace(owner, "fit", fitting)

        trial.when_keras(keras)
        yield


def batches_of_a_pass(dataset: Any) -> int | None:
    """How many elements one pass over a repeated dataset gives; None where it is not repeated or not known."""
    behind: list[Any] = []
    for kind, stage in stages(dataset):
        if kind == "repeat":
            count = int(stage._input_dataset.cardinality())
            for size in reversed(behind):
                count = -(-count // size)
            return count if count > 0 else None
        if kind == "batch" and (size := constant(getattr(stage, "_batch_size", None))):
            behind.append(size)
        elif kind not in KEEPS:
            return None
    return None
