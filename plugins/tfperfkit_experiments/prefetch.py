"""``prefetch``: prepares batches while the step computes."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ChangeStage
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class Prefetch(Base):
    """Applies to ``fit`` and to loops over a dataset, at the end of the pipeline."""

    name = "prefetch"
    keeps = "results"
    remedies = (ChangeStage("prefetch"), ChangeStage("keep_up"))

    def apply(self, seams: Seams, change: Change) -> None:
        """Add ``prefetch`` as a dataset is iterated, unless it ends in one."""
        autotune = seams.tensorflow.data.AUTOTUNE

        def prefetched(dataset: Any, length: int | None) -> Any:
            if "Prefetch" in type(dataset).__name__:
                seams.refuse("the pipeline prefetches already")
                return dataset
            seams.applied()
            return dataset.prefetch(autotune)

        seams.on_iteration(prefetched)
