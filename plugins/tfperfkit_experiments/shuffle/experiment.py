"""``shuffle=N``: the buffer of the script's own shuffles holds no more than N elements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_USUAL = "1000"


class Shuffle(Base):
    """Another order."""

    name = "shuffle"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "shuffle=N"
    codes = ("INP009",)

    def problem(self, change: Change, /) -> str | None:
        """A number."""
        fine = change.value.isdecimal() and int(change.value) > 0 and not change.target
        return None if fine else self.needs("a number")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """A buffer that is filled in no time."""
        yield Change(self.name, value=_USUAL)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.shuffle.install import install

        return install(trial, int(change.value))
