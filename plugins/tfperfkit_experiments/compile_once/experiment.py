"""``compile-once``: a model is compiled the first time only, so that what was traced stays. A ceiling, no fix."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class CompileOnce(Base):
    """What later calls would change (the optimizer, what is trained) stays as it was."""

    name = "compile-once"
    keeps: ClassVar[Keeps] = "ceiling"
    codes = ("RET014",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.compile_once.install import install

        return install(trial)
