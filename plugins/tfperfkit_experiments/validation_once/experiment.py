"""``validation-once``: each validation of ``fit`` is one pass over its data, where it was several."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class ValidationOnce(Base):
    """Training is the same; what goes by a validation loss may decide otherwise where passes were not whole."""

    name = "validation-once"
    keeps: ClassVar[Keeps] = "results"
    codes = ("STP013",)
    whole_run = True

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.validation_once.install import install

        return install(trial)
