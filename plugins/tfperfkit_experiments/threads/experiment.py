"""``threads=INTRA,INTER``: how many threads an operation may use, and how many operations run at once. 0: TensorFlow's
own choice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base


def numbers(change: Change) -> tuple[int, int] | None:
    """Both figures, or None."""
    parts = change.value.split(",")
    if len(parts) == 2 and all(part.strip().isdecimal() for part in parts):
        return int(parts[0]), int(parts[1])
    return None


class Threads(Base):
    """What the script sets itself is overruled."""

    name = "threads"
    keeps: ClassVar[Keeps] = "mathematics"
    usage = "threads=INTRA,INTER, 0 for TensorFlow's own choice"
    codes = ("DEV004",)
    headroom = 0.3

    def problem(self, change: Change, /) -> str | None:
        """Two numbers."""
        return None if numbers(change) is not None and not change.target else self.needs("two numbers")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """TensorFlow's own choice in place of the script's."""
        yield Change(self.name, value="0,0")

    def without_finding(self, report: Report) -> Iterator[Change]:
        """All processors for an operation, one operation at a time."""
        cpus = report.run.machine.get("cpus", 1)
        if isinstance(cpus, int) and cpus > 1:
            yield Change(self.name, value=f"{cpus},1")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.threads.install import install

        return install(trial, *(numbers(change) or (0, 0)))
