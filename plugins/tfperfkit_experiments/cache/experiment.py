"""``cache`` or ``cache:STAGE``: what the script's maps make in the first epoch, or what comes out of another stage
(``cache:batch``, or the map of a function: ``cache:decode``), is kept in memory for the others."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class Cache(Base):
    """What comes at random before it is the same in each epoch then."""

    name = "cache"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "cache, cache:STAGE"
    codes = ("INP006",)

    def problem(self, change: Change, /) -> str | None:
        """A stage at most."""
        fine = not change.value and (not change.target or change.target.isidentifier())
        return None if fine else self.needs("a stage")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.cache.install import install

        return install(trial, change.target)
