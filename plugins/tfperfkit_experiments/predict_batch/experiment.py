"""``predict-batch=N``: ``predict`` and ``evaluate`` of Keras go through their data in batches of N examples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

#: What the advice names.
_USUAL = "1024"


class PredictBatch(Base):
    """Callbacks see fewer batches."""

    name = "predict-batch"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "predict-batch=N"
    codes = ("EAG004",)

    def problem(self, change: Change, /) -> str | None:
        """A number from 2 on."""
        fine = change.value.isdecimal() and 2 <= int(change.value) <= 1_000_000 and not change.target
        return None if fine else self.needs("a number")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """As many as the advice says."""
        yield Change(self.name, value=_USUAL)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.predict_batch.install import install

        return install(trial, int(change.value))
