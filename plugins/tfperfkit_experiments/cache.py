"""``cache`` or ``cache:STAGE``: keeps in memory what the script's maps make in the first epoch, or what comes out of
another stage (``cache:batch``, or the map of a function: ``cache:decode``)."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ChangeStage
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import DATASET, Seams

#: Stages with a user function, and others.
_WITH_FUNCTION = ("map", "flat_map", "interleave", "filter")
_OTHERS = ("batch", "padded_batch", "shuffle", "take", "skip", "unbatch")


class Cache(Base):
    """Values drawn at random before the cache are the same in each epoch."""

    name = "cache"
    keeps = "nothing"
    usage = "cache, cache:STAGE"
    remedies = (ChangeStage("cache"),)

    def problem(self, change: Change, /) -> str | None:
        """Accept a stage or nothing."""
        fine = not change.value and (not change.target or change.target.isidentifier())
        return None if fine else self.needs("a stage")

    def apply(self, seams: Seams, change: Change) -> None:
        """Add ``cache`` after the stage of this name, or the stage with a function of this name, else after maps. An
        endless dataset gets none."""
        target = change.target
        stages = [target] if target in _WITH_FUNCTION + _OTHERS else list(_WITH_FUNCTION) if target else ["map"]
        function = "" if target in stages else target
        seams.refuse(f"no stage of the script's is {target}" if target else "the script maps nothing")

        def stage(original: Any, dataset: Any, /, *arguments: Any, **named: Any) -> Any:
            made = original(dataset, *arguments, **named)
            mapped = arguments[0] if arguments else named.get("map_func", named.get("predicate"))
            if (function and seams.code_of(mapped, function) is None) or not seams.called_by_user():
                return made
            if int(made.cardinality()) == -1:
                seams.refuse("the data set is endless")
                return made
            seams.applied()
            return made.cache()

        for name in stages:
            seams.replace(DATASET, name, stage)
