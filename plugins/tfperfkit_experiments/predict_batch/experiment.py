"""``predict-batch=N``: ``predict`` and ``evaluate`` of Keras go through their data in batches of N examples."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.of_number import OfNumber


class PredictBatch(OfNumber):
    """Callbacks see fewer batches."""

    name = "predict-batch"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "predict-batch=N"
    codes = ("EAG004",)
    lowest, highest = 2, 1_000_000
    usual = 1024  # what the advice names

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.predict_batch.install import install

        return install(trial, int(change.value))
