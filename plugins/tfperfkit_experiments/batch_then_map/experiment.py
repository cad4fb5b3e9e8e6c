"""``batch-then-map`` or ``batch-then-map:FUNCTION``: maps over single examples that come before ``batch`` work on whole
batches behind it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class BatchThenMap(Base):
    """The same values where the function treats each number alone; the comparison of results says whether it does."""

    name = "batch-then-map"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "batch-then-map, batch-then-map:FUNCTION"
    codes = ("INP007",)

    def problem(self, change: Change, /) -> str | None:
        """A function at most."""
        fine = not change.value and (not change.target or all(part.isidentifier() for part in change.target.split(".")))
        return None if fine else self.needs("a function or nothing")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.batch_then_map.install import install

        return install(trial, change.target)
