"""``steps-per-execution=N``: lets ``fit`` make N steps in one call of its compiled function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import WithNumber
from tfperfkit_experiments.findings import is_fit
from tfperfkit_experiments.seams import Seams


class StepsPerExecution(WithNumber):
    """Makes the same steps; callbacks see only every N-th batch."""

    name = "steps-per-execution"
    keeps = "results"
    usage = "steps-per-execution=N"
    remedies = (Setting("steps_per_execution"),)
    highest = 10_000
    usual = 16
    headroom = 0.8

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """As many steps as the finding advises, if ``fit`` makes the steps."""
        if is_fit(report) and not finding.work:
            yield self.with_value(self.advised(finding))

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The usual number, if ``fit`` makes the steps."""
        if is_fit(report):
            yield self.with_value(self.usual)

    def apply(self, seams: Seams, change: Change) -> None:
        """Pass ``steps_per_execution`` to ``compile`` of all models."""

        def compiled(arguments: dict[str, Any]) -> None:
            arguments["steps_per_execution"] = int(change.value)
            seams.applied()

        seams.on_compile(compiled)
