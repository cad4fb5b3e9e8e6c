"""``one-gradient``: a persistent tape that is asked for the gradient of one loss after another gives that of their
sum."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class OneGradient(Base):
    """The same where the script adds them up; the comparison of results says whether it does."""

    name = "one-gradient"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("GRF004",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.one_gradient.install import install

        return install(trial)
