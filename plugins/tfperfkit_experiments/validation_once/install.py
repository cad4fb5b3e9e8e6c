"""``fit`` with a dataset for its validation that is repeated."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module
from tfperfkit_experiments.on_fit import fit_handed
from tfperfkit_experiments.stages import KEEPS, constant, stages


def install(trial: Trial) -> AbstractContextManager[None]:
    """Where tf.data knows how many elements there are before they are repeated."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no validation of fit goes through a repeated dataset of a known length several times")

    def once(held: dict[str, Any]) -> bool:
        data: Any = held.get("validation_data")
        batches = batches_of_a_pass(data) if isinstance(data, tensorflow.data.Dataset) else None
        if batches is None or batches >= (held.get("validation_steps") or int(data.cardinality())):
            return False
        held["validation_steps"] = batches
        return True

    return fit_handed(trial, once)


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
