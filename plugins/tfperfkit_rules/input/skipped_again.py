"""A dataset that is built again and again with another ``skip`` or ``shard``, so that each reads from the start
(INP012).

A stage of tf.data has no random access: it makes the elements that ``skip`` or ``shard`` then discards.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit.calibration import Chosen, Threshold

MIN_BEGINS = Threshold(
    4,
    "count",
    "minimum number of different counts of one skip, or indices of one shard",
    Chosen("as MIN_MADE: training, validation and test are fewer"),
)


class Again(NamedTuple):
    """``left_out``: the share (0 to 1) of the elements made that are discarded; None if it is not known how many are
    kept."""

    stage: Stage
    name: str
    left_out: float | None
    advice: str


def find_again(pipeline: Pipeline) -> Again | None:
    """Return the stage of the user's that began elsewhere nearly each time that the pipeline was built."""
    own = [stage for stage in pipeline.stages if stage.nested is None and not stage.added and stage.by == "user"]
    for index, stage in enumerate(own):
        if len(stage.begins) < MIN_BEGINS.value:
            continue
        if any(below.kind == "Shuffle" for below in own[index:]):
            return None  # each part is another sample of the data
        if stage.kind == "Shard":
            shards = stage.parameters.get("num_shards")
            left_out = 1 - 1 / shards if isinstance(shards, int) and shards > 1 else None
            return Again(stage, "shard()", left_out, _advise("data[i::n]", 0))
        taken = own[index - 1].parameters.get("count") if index and own[index - 1].kind == "Take" else None
        kept = taken if isinstance(taken, int) and taken > 0 else 0
        # The counts recorded are the first ones and the last: loops count evenly.
        mean = (min(stage.begins) + max(stage.begins)) / 2
        return Again(
            stage,
            "skip()",
            mean / (mean + kept) if kept and mean else None,
            _advise("data[start:stop]", kept if _follow(stage.begins, kept) else 0),
        )
    return None


def _follow(begins: tuple[int, ...], size: int) -> bool:
    """Whether each part mostly begins where the one before ends."""
    steps = [after - before for before, after in pairwise(begins)]
    return steps.count(size) * 2 > len(steps)


def _advise(part: str, size: int) -> str:
    """``size``: of parts that follow each other; else 0."""
    once = f"Go through the dataset once: for part in dataset.batch({size}) gives the same parts. Or: " if size else ""
    keep = f"materialise the data once, before the loop: data = list(dataset.as_numpy_iterator()), then {part}"
    return f"{once}{keep if size else keep[:1].upper() + keep[1:]}."
