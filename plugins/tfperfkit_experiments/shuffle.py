"""``shuffle=N``: limits the buffer of the script's shuffles to N elements."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ChangeStage
from tfperfkit_experiments.base import WithNumber
from tfperfkit_experiments.seams import DATASET, Seams


class Shuffle(WithNumber):
    """The order of examples differs. A smaller buffer stays."""

    name = "shuffle"
    keeps = "nothing"
    usage = "shuffle=N"
    remedies = (ChangeStage("shuffle_less"),)
    usual = 1000  # a buffer that is filled in no time

    def apply(self, seams: Seams, change: Change) -> None:
        """Limit ``buffer_size`` in user files."""
        size = int(change.value)

        def shuffle(original: Any, dataset: Any, buffer_size: Any, *arguments: Any, **named: Any) -> Any:
            if seams.called_by_user() and isinstance(buffer_size, int) and buffer_size > size:
                seams.applied()
                buffer_size = size
            return original(dataset, buffer_size, *arguments, **named)

        seams.replace(DATASET, "shuffle", shuffle)
