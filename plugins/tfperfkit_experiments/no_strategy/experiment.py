"""``no-strategy``: a distribution strategy that has one replica only is left out."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class NoStrategy(Base):
    """What the strategy is asked for, TensorFlow's default one does: it calls functions and gives datasets back."""

    name = "no-strategy"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("DST004",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.no_strategy.install import install

        return install(trial)
