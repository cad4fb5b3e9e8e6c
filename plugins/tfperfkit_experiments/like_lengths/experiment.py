"""``like-lengths``: batches are made of sequences of like length, where they are filled with padding."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class LikeLengths(Base):
    """Other examples meet in a batch, and what a model does with padding it no longer does."""

    name = "like-lengths"
    keeps: ClassVar[Keeps] = "nothing"
    codes = ("GRF018",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.like_lengths.install import install

        return install(trial)
