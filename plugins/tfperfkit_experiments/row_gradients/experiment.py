"""``row-gradients``: the script's own ``tf.convert_to_tensor`` leaves gradients that are rows of a table as
they are."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class RowGradients(Base):
    """Where the script then computes with such a gradient as with a tensor, it fails."""

    name = "row-gradients"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("DST002",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.row_gradients.install import install

        return install(trial)
