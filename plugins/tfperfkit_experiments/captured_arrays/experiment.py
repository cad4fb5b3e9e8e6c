"""``captured-arrays``: a large NumPy array that a compiled function uses becomes a tensor once, and no constant of
each graph."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import ClassVar

import msgspec

from tfperfkit.experiment import Candidate, Change, Keeps, Trial
from tfperfkit.model import Report
from tfperfkit_experiments.base import Base


class CapturedArrays(Base):
    """The same values. What changes is tracing and the first run, so the whole run is timed."""

    name = "captured-arrays"
    keeps: ClassVar[Keeps] = "results"
    codes = ("INP010", "OPS002")

    def candidates(self, report: Report, /) -> Iterable[Candidate]:
        """It is paid while functions are traced."""
        for item in super().candidates(report):
            yield msgspec.structs.replace(item, whole=True)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.captured_arrays.install import install

        return install(trial)
