"""``input=first-batch``: feeds the first batch again and again, which times the step without its input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import ChangeStage
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.seams import Seams


class Input(WithChoice):
    """Applies to ``fit`` with any data, and to loops over a ``tf.data.Dataset``."""

    name = "input"
    keeps = "ceiling"
    usage = "input=first-batch"
    remedies = (ChangeStage,)
    headroom = 0.6
    choices = ("first-batch",)
    wanted = "first-batch"

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The change, if the finding is about steps."""
        if not finding.work:
            yield from super().changes(report, finding)

    def apply(self, seams: Seams, change: Change) -> None:
        """Iterate a dataset that returns its first batch for ever, also in a loop that begins again."""

        def first(dataset: Any, length: int | None) -> Any:
            seams.applied()
            return dataset.take(1).cache().repeat(length)

        seams.on_iteration(first, keep=True)
