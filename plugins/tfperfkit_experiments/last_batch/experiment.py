"""``last-batch=drop``: a last batch that is not full is left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base


class LastBatch(Base):
    """Its examples are not seen."""

    name = "last-batch"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "last-batch=drop"
    codes = ("RET002",)

    def problem(self, change: Change, /) -> str | None:
        """There is one kind."""
        return None if change.value == "drop" and not change.target else self.needs("drop")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The same."""
        yield Change(self.name, value="drop")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.last_batch.install import install

        return install(trial)
