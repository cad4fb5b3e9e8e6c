"""``last-batch=drop``: drops a last batch that is not full."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.seams import DATASET, Seams


class LastBatch(WithChoice):
    """The examples of the dropped batch are skipped."""

    name = "last-batch"
    keeps = "nothing"
    usage = "last-batch=drop"
    remedies = (KeepTrace("batch"),)
    choices = ("drop",)
    wanted = "drop"

    def apply(self, seams: Seams, change: Change) -> None:
        """Pass ``drop_remainder`` to ``batch`` and ``padded_batch`` in user files."""

        def batch(original: Any, dataset: Any, batch_size: Any, *arguments: Any, **named: Any) -> Any:
            if seams.called_by_user() and not arguments:
                seams.applied()
                named["drop_remainder"] = True
            return original(dataset, batch_size, *arguments, **named)

        for name in ("batch", "padded_batch"):
            seams.replace(DATASET, name, batch)
