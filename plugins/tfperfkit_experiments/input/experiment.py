"""``input=first-batch``: the first batch again and again: the step without its input. A ceiling, no fix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_WHAT = "first-batch"


class Input(Base):
    """For ``fit`` with any data, and for loops over a ``tf.data.Dataset``."""

    name = "input"
    keeps: ClassVar[Keeps] = "ceiling"
    usage = f"input={_WHAT}"
    codes = ("INP001", "INP003", "INP004", "INP005", "INP006", "INP007", "INP008", "INP009")
    headroom = 0.6

    def problem(self, change: Change, /) -> str | None:
        """There is one kind."""
        return None if change.value == _WHAT and not change.target else self.needs(_WHAT)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """All that input could gain."""
        if not finding.work:
            yield Change(self.name, value=_WHAT)

    def without_finding(self, report: Report) -> Iterator[Change]:
        """The same."""
        yield Change(self.name, value=_WHAT)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.input.install import install

        return install(trial)
