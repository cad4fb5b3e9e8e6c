"""Repeats what ``fit`` is given, and hands it fewer epochs."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module
from tfperfkit_experiments.on_fit import fit_handed

_BATCH = 32  # Keras' own


def install(trial: Trial, times: int) -> AbstractContextManager[None]:
    """For arrays and for datasets that end."""

    def longer(held: dict[str, Any]) -> bool:
        epochs = held.get("epochs", 1)
        if epochs < 2 or not _repeated(held, min(times, epochs)):
            return False
        held["epochs"] = math.ceil(epochs / times)
        return True

    trial.refuse("fit was given neither arrays nor a dataset that ends, or splits and weighs them itself")
    return fit_handed(trial, longer)


def _repeated(held: dict[str, Any], times: int) -> bool:
    """Put the repeated data in the place of the given; False where that can't be."""
    tensorflow, x = module("tensorflow"), held.get("x")
    if any(held.get(name) for name in ("validation_split", "steps_per_epoch", "initial_epoch")):
        return False
    if isinstance(x, tensorflow.data.Dataset):
        if int(x.cardinality()) < 1:  # endless, or not known
            return False
        held["x"] = x.repeat(times)
        return True
    if not hasattr(x, "__array__") or any(held.get(name) is not None for name in ("sample_weight", "class_weight")):
        return False
    data = tensorflow.data.Dataset.from_tensor_slices(x if held.get("y") is None else (x, held["y"]))
    if held.get("shuffle", True):
        data = data.shuffle(int(data.cardinality()))
    held["x"], held["y"] = data.batch(held.pop("batch_size", None) or _BATCH).repeat(times), None
    return True
