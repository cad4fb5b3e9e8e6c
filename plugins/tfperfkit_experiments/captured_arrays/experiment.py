"""``captured-arrays``: a large NumPy array that a compiled function uses becomes a tensor once, and no constant of
each graph."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class CapturedArrays(Base):
    """The same values. What changes is tracing and the first run, so the whole run is timed."""

    name = "captured-arrays"
    keeps: ClassVar[Keeps] = "results"
    codes = ("INP010", "OPS002")
    whole_run = True

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.captured_arrays.install import install

        return install(trial)
