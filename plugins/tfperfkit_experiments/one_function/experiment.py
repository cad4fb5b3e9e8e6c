"""``one-function``: a ``tf.function`` that is made anew, of the same code and captures, is the first one again."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class OneFunction(Base):
    """Where its captures differ, a new one is made."""

    name = "one-function"
    keeps: ClassVar[Keeps] = "results"
    codes = ("RET008",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.one_function.install import install

        return install(trial)
