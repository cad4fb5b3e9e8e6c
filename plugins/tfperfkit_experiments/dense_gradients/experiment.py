"""``dense-gradients``: under a distribution strategy Keras' optimizers are given gradients of tables as whole tensors,
which replicas add up, and not as rows, which are gathered."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class DenseGradients(Base):
    """Lazy optimizers, which treat rows that were not looked up in another way, train differently."""

    name = "dense-gradients"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("DST001",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.dense_gradients.install import install

        return install(trial)
