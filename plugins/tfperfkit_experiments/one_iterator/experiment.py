"""``one-iterator``: an iterator that is made again over the same dataset goes on where the last one was."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class OneIterator(Base):
    """Other batches: one after another, not the first ones again."""

    name = "one-iterator"
    keeps: ClassVar[Keeps] = "nothing"
    codes = ("INP012",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.one_iterator.install import install

        return install(trial)
