"""``steps-per-execution=N``: so many batches of ``fit`` in one call of its compiled function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import advised
from tfperfkit_experiments.of_number import OfNumber


class StepsPerExecution(OfNumber):
    """The same steps; callbacks see every N-th batch only."""

    name = "steps-per-execution"
    keeps: ClassVar[Keeps] = "results"
    usage = "steps-per-execution=N"
    codes = ("STP002", "STP009")
    highest = 10_000
    usual = 16
    headroom = 0.8

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Where steps are ``fit``'s."""
        if report.steps.source == "keras" and not finding.work:
            yield self.of(advised(finding, "steps in one call to try") or self.usual)

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The same."""
        if report.steps.source == "keras":
            yield self.of(self.usual)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.steps_per_execution.install import install

        return install(trial, int(change.value))
