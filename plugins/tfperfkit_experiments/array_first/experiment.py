"""``array-first``: NumPy makes one array of a list of arrays, which TensorFlow then copies as a whole."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class ArrayFirst(Base):
    """Arrays of one shape and one type only, so the numbers are the same."""

    name = "array-first"
    keeps: ClassVar[Keeps] = "results"
    codes = ("EAG016",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.array_first.install import install

        return install(trial)
