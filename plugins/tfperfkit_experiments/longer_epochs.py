"""``longer-epochs=N``: lets ``fit`` make one epoch of N, so that it begins and ends fewer epochs."""

from __future__ import annotations

import math
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import WithNumber
from tfperfkit_experiments.seams import Seams

#: The batch size of ``fit`` if it is given none.
_BATCH = 32


class LongerEpochs(WithNumber):
    """Makes as many steps, in another order; callbacks and validation run less often."""

    name = "longer-epochs"
    keeps = "nothing"
    usage = "longer-epochs=20"
    remedies = (Setting("epochs"),)
    lowest = 2
    wanted = "how many epochs become one"
    usual = 20

    def apply(self, seams: Seams, change: Change) -> None:
        """Repeat arrays, and datasets that end, and pass fewer epochs."""
        times = int(change.value)

        def longer(held: dict[str, Any]) -> bool:
            epochs = held.get("epochs", 1)
            if epochs < 2 or not _repeat_data(seams.tensorflow, held, min(times, epochs)):
                return False
            held["epochs"] = math.ceil(epochs / times)
            return True

        seams.refuse("fit was given neither arrays nor a dataset that ends, or splits and weighs them itself")
        seams.on_model_call("fit", longer)


def _repeat_data(tensorflow: Any, held: dict[str, Any], times: int) -> bool:
    """Replace the data of ``fit`` by repeated data; False if that can't be done."""
    x = held.get("x")
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
