"""``adapt-batches``: the dataset that a layer's ``adapt`` goes through comes in batches of 1024."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class AdaptBatches(Base):
    """The same examples. Means and variances are put together of fewer parts, so rounding may differ."""

    name = "adapt-batches"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("EAG015",)
    whole_run = True

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.adapt_batches.install import install

        return install(trial)
