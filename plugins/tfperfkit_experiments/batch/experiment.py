"""``batch=xN``: batches N times as large, where the script hands a batch size to ``fit`` or to ``Dataset.batch``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base, advised

_USUAL = 4


def factor(change: Change) -> int | None:
    """N, or None."""
    text = change.value.lower().removeprefix("x")
    return int(text) if text.isdecimal() and 2 <= int(text) <= 10_000 else None


class Batch(Base):
    """Training goes another way with larger batches: the learning rate wants to follow."""

    name = "batch"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "batch=x4"
    codes = ("BAT001", "BAT002", "DST005")
    headroom = 0.9

    def problem(self, change: Change, /) -> str | None:
        """A factor."""
        return None if factor(change) is not None and not change.target else self.needs("a factor")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """As many as the finding speaks of; else four times: small enough to fit, large enough to see."""
        now, wanted = advised(finding, "examples in a batch"), advised(finding, "examples in a batch to try")
        times = math.ceil(wanted / now) if now and wanted else _USUAL
        yield Change(self.name, value=f"x{max(times, 2)}")

    def without_finding(self, report: Report) -> Iterator[Change]:
        """Where there is training."""
        if report.steps.count:
            yield Change(self.name, value=f"x{_USUAL}")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.batch.install import install

        return install(trial, factor(change) or 1)
