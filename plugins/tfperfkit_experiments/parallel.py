"""``parallel``: lets the script's maps and interleaves work on several elements at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ChangeStage
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import DATASET, Seams

#: The position of ``num_parallel_calls`` among the arguments of each stage, the dataset included.
_POSITIONS = {"map": 2, "interleave": 4}


class Parallel(Base):
    """Keeps the order of elements. Random numbers drawn in a map differ."""

    name = "parallel"
    keeps = "results"
    remedies = (ChangeStage("parallel"), ChangeStage("keep_up"))

    def apply(self, seams: Seams, change: Change) -> None:
        """Pass ``num_parallel_calls`` to stages in user files that have none; TensorFlow tunes how many."""
        autotune = seams.tensorflow.data.AUTOTUNE

        def parallel(position: int) -> Callable[..., Any]:
            def stage(original: Any, /, *arguments: Any, **named: Any) -> Any:
                given = named.get("num_parallel_calls") or len(arguments) > position
                if not given and seams.called_by_user():
                    seams.applied()
                    named["num_parallel_calls"] = autotune
                return original(*arguments, **named)

            return stage

        for name, position in _POSITIONS.items():
            seams.replace(DATASET, name, parallel(position))
