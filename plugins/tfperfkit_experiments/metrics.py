"""``metrics=off``: drops the metrics that ``compile`` is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import Remove
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.findings import is_fit
from tfperfkit_experiments.seams import Seams


class Metrics(WithChoice):
    """The loss is unchanged."""

    name = "metrics"
    keeps = "ceiling"
    usage = "metrics=off"
    remedies = (Remove("metrics"),)
    choices = ("off",)
    wanted = "off"

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The change, if ``fit`` makes the steps."""
        if is_fit(report):
            yield from super().changes(report, finding)

    def apply(self, seams: Seams, change: Change) -> None:
        """Remove ``metrics`` and ``weighted_metrics`` from ``compile`` of all models."""

        def compiled(arguments: dict[str, Any]) -> None:
            given = [arguments.pop(name, None) for name in ("metrics", "weighted_metrics")]
            if any(given):
                seams.applied()

        seams.on_compile(compiled)
