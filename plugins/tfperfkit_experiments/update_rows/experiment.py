"""``update-rows``: Keras' Adam updates of an embedding only the rows that the batch touches (lazy Adam)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit_experiments.base import Base


class UpdateRows(Base):
    """Rows that no batch touches keep their moments, so it trains a little differently."""

    name = "update-rows"
    keeps: ClassVar[Keeps] = "nothing"
    codes = ("GRF006",)

    def install(self, trial: Trial, change: Change, /) -> AbstractContextManager[None]:
        """See ``install``."""
        from tfperfkit_experiments.update_rows.install import install

        return install(trial)
