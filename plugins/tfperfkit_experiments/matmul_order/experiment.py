"""``matmul-order``: a product of three matrices is computed in the order that needs fewer multiplications."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class MatmulOrder(Base):
    """Inside compiled functions, for matrices of known sizes."""

    name = "matmul-order"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("GRF011",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.matmul_order.install import install

        return install(trial)
