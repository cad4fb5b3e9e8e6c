"""``NAME=N``: an experiment whose only parameter is a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base


class OfNumber(Base):
    """``wanted``: the number in words, for a message; ``usual``: where a finding names none."""

    lowest: ClassVar[int] = 1
    highest: ClassVar[int] = 1_000_000_000
    wanted: ClassVar[str] = "a number"
    usual: ClassVar[int]

    def problem(self, change: Change, /) -> str | None:
        """A number within the bounds."""
        fine = change.value.isdecimal() and self.lowest <= int(change.value) <= self.highest and not change.target
        return None if fine else self.needs(self.wanted)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The usual one."""
        yield self.of(self.usual)

    def of(self, number: int) -> Change:
        """The change with this number."""
        return Change(self.name, value=str(number))
