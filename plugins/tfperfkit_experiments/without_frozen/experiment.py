"""``without-frozen``: layers of Keras that are not trained give zeros in compiled functions: the step as if what they
compute had been kept."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class WithoutFrozen(Base):
    """Not quite a ceiling: what the layers are given is still read, which kept features may be smaller than."""

    name = "without-frozen"
    keeps: ClassVar[Keeps] = "ceiling"
    codes = ("GRF009",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.without_frozen.install import install

        return install(trial)
