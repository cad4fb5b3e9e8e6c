"""``pad-to=MULTIPLE``: elements of a batch whose lengths vary are filled with zeros up to the next multiple, so that
few sizes are left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import Base

_USUAL = "32"


class PadTo(Base):
    """The zeros take part in what follows, unless the script masks them."""

    name = "pad-to"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "pad-to=MULTIPLE"
    codes = ("RET003",)

    def problem(self, change: Change, /) -> str | None:
        """A number from 2 on."""
        fine = change.value.isdecimal() and 2 <= int(change.value) <= 100_000 and not change.target
        return None if fine else self.needs("a number from 2 on")

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """A multiple that leaves few sizes, and not much to fill."""
        yield Change(self.name, value=_USUAL)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.pad_to.install import install

        return install(trial, int(change.value))
