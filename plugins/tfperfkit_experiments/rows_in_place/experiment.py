"""``rows-in-place``: a variable that is given back its own value with some rows changed has these rows written, and is
not copied."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class RowsInPlace(Base):
    """Not a queue that is made by joining: its remedy is a ring, which keeps its rows in another order."""

    name = "rows-in-place"
    keeps: ClassVar[Keeps] = "results"
    codes = ("GRF019",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.rows_in_place.install import install

        return install(trial)
