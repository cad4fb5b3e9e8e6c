"""``pad-to=MULTIPLE``: elements of a batch whose lengths vary are filled with zeros up to the next multiple, so that
few sizes are left."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.of_number import OfNumber


class PadTo(OfNumber):
    """The zeros take part in what follows, unless the script masks them."""

    name = "pad-to"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "pad-to=MULTIPLE"
    codes = ("RET003",)
    lowest, highest = 2, 100_000
    wanted = "a number from 2 on"
    usual = 32  # leaves few sizes, and not much to fill

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.pad_to.install import install

        return install(trial, int(change.value))
