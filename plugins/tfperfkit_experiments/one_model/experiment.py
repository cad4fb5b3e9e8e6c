"""``one-model``: a model that is set up as one that was fitted before is fitted in its place, with its own weights and
optimizer's state, and one that is compiled again as it was is not, so that nothing is traced anew."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class OneModel(Base):
    """Callbacks see the first model."""

    name = "one-model"
    keeps: ClassVar[Keeps] = "results"
    codes = ("CMP004", "RET014")
    whole_run = True

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.one_model.install import install

        return install(trial)
