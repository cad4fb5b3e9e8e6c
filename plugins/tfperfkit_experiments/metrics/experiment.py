"""``metrics=off``: the metrics that ``compile`` is given are left out. A ceiling, no fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base


class Metrics(Base):
    """The loss stays."""

    name = "metrics"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = "metrics=off"
    codes = ("GRF002",)

    def problem(self, change: Change, /) -> str | None:
        """There is one kind."""
        return None if change.value == "off" and not change.target else self.needs("off")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Where ``compile`` is given them."""
        if report.steps.source == "keras":
            yield Change(self.name, value="off")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.metrics.install import install

        return install(trial)
