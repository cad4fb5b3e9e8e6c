"""``prefetch``: batches are prepared while the step computes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class Prefetch(Base):
    """For ``fit`` and for loops over a dataset, at the end of the pipeline."""

    name = "prefetch"
    keeps: ClassVar[Keeps] = "results"
    codes = ("INP004", "INP001")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.prefetch.install import install

        return install(trial)
