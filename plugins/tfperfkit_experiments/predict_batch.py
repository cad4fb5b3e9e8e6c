"""``predict-batch=N``: lets Keras' ``predict`` and ``evaluate`` go through their data in batches of N examples."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import BatchSize, CallDirectly, Compile
from tfperfkit_experiments.base import WithNumber
from tfperfkit_experiments.seams import Seams
from tfperfkit_experiments.stages import batch_size

#: The batch size of ``predict`` and ``evaluate`` if they are given none.
_KERAS_BATCH = 32


class PredictBatch(WithNumber):
    """Callbacks see fewer batches."""

    name = "predict-batch"
    keeps = "mathematics"
    usage = "predict-batch=N"
    remedies = (CallDirectly("predict"), Compile("model"), BatchSize("predict"))
    lowest, highest = 2, 1_000_000
    usual = 1024  # as the advice of the finding says

    def apply(self, seams: Seams, change: Change) -> None:
        """Change calls with arrays, tensors and datasets that ``batch`` made; not those that count their own steps."""
        tensorflow, size = seams.tensorflow, int(change.value)
        seams.refuse(f"no predict or evaluate has more than one batch, of fewer than {size} examples")

        def larger(held: dict[str, Any]) -> bool:
            data = held.get("x")
            if held.get("steps") is not None:
                return False
            if isinstance(data, tensorflow.data.Dataset):
                batch = batch_size(data)
                if batch is None or batch >= size or int(data.cardinality()) == 1:
                    return False
                held["x"] = data.rebatch(size)
                return True
            batch = held.get("batch_size") or _KERAS_BATCH
            rows = [len(part) for part in tensorflow.nest.flatten(data) if getattr(part, "shape", None)]
            if not rows or batch >= min(size, rows[0]):
                return False
            held["batch_size"] = size
            return True

        seams.on_model_call("predict", larger)
        seams.on_model_call("evaluate", larger)
