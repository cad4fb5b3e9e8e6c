"""``longer-epochs=N``: ``fit`` makes one epoch of N, so that it begins and ends that much fewer of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import advised
from tfperfkit_experiments.of_number import OfNumber


class LongerEpochs(OfNumber):
    """As many steps, in another order; callbacks and validation come less often."""

    name = "longer-epochs"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "longer-epochs=20"
    codes = ("STP010",)
    lowest = 2
    wanted = "how many epochs become one"
    usual = 20

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """As many as the finding advises."""
        yield self.of(advised(finding, "epochs to join") or self.usual)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.longer_epochs.install import install

        return install(trial, int(change.value))
