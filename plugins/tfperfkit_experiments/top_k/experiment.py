"""``top-k``: of what a compiled function sorts, and takes the first few of, only these are looked for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class TopK(Base):
    """Values and places are those that the sort has."""

    name = "top-k"
    keeps: ClassVar[Keeps] = "results"
    codes = ("GRF013",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.top_k.install import install

        return install(trial)
