"""Larger batches for ``predict`` and ``evaluate``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module
from tfperfkit_experiments.on_fit import fit_handed
from tfperfkit_experiments.stages import KEEPS, constant, stages

#: Keras' own, where a call names none.
_USUAL = 32


@contextmanager
def install(trial: Trial, size: int) -> Iterator[None]:
    """For arrays, tensors and datasets that ``batch`` made; not where a call counts its own steps."""
    tensorflow: Any = module("tensorflow")
    trial.refuse(f"no predict or evaluate has more than one batch, of fewer than {size} examples")

    def larger(held: dict[str, Any]) -> bool:
        data = held.get("x")
        if held.get("steps") is not None:
            return False
        if isinstance(data, tensorflow.data.Dataset):
            batch = batch_of(data)
            if batch is None or batch >= size or int(data.cardinality()) == 1:
                return False
            held["x"] = data.rebatch(size)
            return True
        batch = held.get("batch_size") or _USUAL
        rows = [len(part) for part in tensorflow.nest.flatten(data) if getattr(part, "shape", None)]
        if not rows or batch >= min(size, rows[0]):
            return False
        held["batch_size"] = size
        return True

    with fit_handed(trial, larger, "predict"), fit_handed(trial, larger, "evaluate"):
        yield


def batch_of(dataset: Any) -> int | None:
    """How many examples an element of it has; None where that isn't told by its stages."""
    for kind, stage in stages(dataset):
        if kind == "batch":
            return constant(getattr(stage, "_batch_size", None))
        if kind not in KEEPS:
            return None
    return None
