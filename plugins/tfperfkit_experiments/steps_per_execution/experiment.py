"""``steps-per-execution=N``: so many batches of ``fit`` in one call of its compiled function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base, advised

_USUAL = "16"


class StepsPerExecution(Base):
    """The same steps; callbacks see every N-th batch only."""

    name = "steps-per-execution"
    keeps: ClassVar[Keeps] = "results"
    usage = "steps-per-execution=N"
    codes = ("STP002", "STP009")
    headroom = 0.8

    def problem(self, change: Change, /) -> str | None:
        """A number from 2 on."""
        fine = change.value.isdecimal() and 1 <= int(change.value) <= 10_000 and not change.target
        return None if fine else self.needs("a number")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Where steps are ``fit``'s."""
        if report.steps.source == "keras" and not finding.work:
            yield Change(self.name, value=str(advised(finding, "steps in one call to try") or _USUAL))

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The same."""
        if report.steps.source == "keras":
            yield Change(self.name, value=_USUAL)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.steps_per_execution.install import install

        return install(trial, int(change.value))
