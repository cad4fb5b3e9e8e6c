"""``eager-switch``: switches for debugging that make everything run eagerly are undone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class EagerSwitch(Base):
    """``run_functions_eagerly``, ``run_eagerly``, ``enable_debug_mode``, ``enable_check_numerics``."""

    name = "eager-switch"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("EAG003", "INP016", "OPS006")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.eager_switch.install import install

        return install(trial)
