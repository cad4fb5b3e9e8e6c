"""``grow-in-place``: a NumPy array that is joined with a few rows, turn by turn, has room for them behind its own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class GrowInPlace(Base):
    """The same numbers, while the script lets go of the array before, as ``x = np.append(x, new)`` does."""

    name = "grow-in-place"
    keeps: ClassVar[Keeps] = "results"
    codes = ("STP014",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.grow_in_place.install import install

        return install(trial)
