"""``cache``: what the script's maps make in the first epoch is kept in memory for the others."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class Cache(Base):
    """What a map draws at random is the same in each epoch then."""

    name = "cache"
    keeps: ClassVar[Keeps] = "nothing"
    codes = ("INP006",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.cache.install import install

        return install(trial)
