"""``float32``: what the script sets as ``floatx`` or as a policy of 16 bits has no effect, and NumPy's
float64 becomes float32 where it becomes a tensor."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class Float32(Base):
    """Results differ as the precision does."""

    name = "float32"
    keeps: ClassVar[Keeps] = "nothing"
    codes = ("OPS003", "PRC003")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.float32.install import install

        return install(trial)
