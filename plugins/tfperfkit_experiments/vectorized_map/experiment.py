"""``vectorized-map``: ``tf.map_fn`` in a compiled function does all rows at once, as ``tf.vectorized_map`` does."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class VectorizedMap(Base):
    """What can't be vectorised stays as it is."""

    name = "vectorized-map"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("GRF005",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.vectorized_map.install import install

        return install(trial)
