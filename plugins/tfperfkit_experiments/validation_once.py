"""``validation-once``: makes each validation of ``fit`` one pass over its data, if it is several."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams
from tfperfkit_experiments.stages import batches_of_a_pass


class ValidationOnce(Base):
    """Training is the same. Decisions by a validation loss may differ if passes were not whole."""

    name = "validation-once"
    keeps = "results"
    remedies = (Setting("validation_steps"),)
    whole_run = True

    def apply(self, seams: Seams, change: Change) -> None:
        """Cut ``validation_steps``, if tf.data knows how many elements there are before they are repeated."""
        tensorflow = seams.tensorflow
        seams.refuse("no validation of fit goes through a repeated dataset of a known length several times")

        def once(held: dict[str, Any]) -> bool:
            data: Any = held.get("validation_data")
            batches = batches_of_a_pass(data) if isinstance(data, tensorflow.data.Dataset) else None
            if batches is None or batches >= (held.get("validation_steps") or int(data.cardinality())):
                return False
            held["validation_steps"] = batches
            return True

        seams.on_model_call("fit", once)
