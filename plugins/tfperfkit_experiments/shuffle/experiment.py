"""``shuffle=N``: the buffer of the script's own shuffles holds no more than N elements."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.of_number import OfNumber


class Shuffle(OfNumber):
    """Another order."""

    name = "shuffle"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "shuffle=N"
    codes = ("INP009",)
    usual = 1000  # a buffer that is filled in no time

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.shuffle.install import install

        return install(trial, int(change.value))
