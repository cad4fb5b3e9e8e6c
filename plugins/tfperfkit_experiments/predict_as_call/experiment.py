"""``predict-as-call``: a ``predict`` of a few rows is served by the compiled call of the model."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class PredictAsCall(Base):
    """Without callbacks and progress bars."""

    name = "predict-as-call"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("EAG004",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.predict_as_call.install import install

        return install(trial)
