"""``batch-as-call``: ``train_on_batch``, and a ``fit`` of one batch, is served by one compiled function."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class BatchAsCall(Base):
    """From the second batch on; not with class weights, callbacks, a progress bar or ``run_eagerly``."""

    name = "batch-as-call"
    keeps: ClassVar[Keeps] = "mathematics"
    codes = ("EAG006", "EAG014")

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.batch_as_call.install import install

        return install(trial)
