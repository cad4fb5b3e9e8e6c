"""``parallel``: the script's own maps and interleaves work on several elements at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class Parallel(Base):
    """The order is kept; what a map draws at random is another."""

    name = "parallel"
    keeps: ClassVar[Keeps] = "results"
    codes = ("INP003", "INP001")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.parallel.install import install

        return install(trial)
