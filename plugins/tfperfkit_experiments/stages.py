"""The stages of a ``tf.data`` dataset, from its end to its source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

#: Stages that output as many elements as they take.
KEEPS = frozenset({"map", "parallel map", "shuffle", "prefetch", "cache", "options"})
_KINDS = {
    "_BatchDataset": "batch",
    "_ParallelBatchDataset": "batch",
    "_PaddedBatchDataset": "batch",
    "_RebatchDataset": "rebatch",
    "_RepeatDataset": "repeat",
    "_MapDataset": "map",
    "_ParallelMapDataset": "parallel map",
    "_ShuffleDataset": "shuffle",
    "_PrefetchDataset": "prefetch",
    "_CacheDataset": "cache",
    "CacheDataset": "cache",
    "_OptionsDataset": "options",
}


def stages(dataset: Any) -> Iterator[tuple[str, Any]]:
    """Yield (kind, dataset) of each stage with one input, the last first; the kind is "" if it is not known."""
    while (before := getattr(dataset, "_input_dataset", None)) is not None:
        yield _KINDS.get(type(dataset).__name__, ""), dataset
        dataset = before


def batch_size(dataset: Any, through: frozenset[str] = KEEPS) -> int | None:
    """How many examples an element of the dataset has; None if stages other than ``through`` follow its batch stage, or
    there is none."""
    for kind, stage in stages(dataset):
        if kind == "batch":
            return _constant(getattr(stage, "_batch_size", None))
        if kind not in through:
            return None
    return None


def batches_of_a_pass(dataset: Any) -> int | None:
    """How many elements one pass over a repeated dataset has; None if it is not repeated or the length is not known."""
    sizes: list[int] = []
    for kind, stage in stages(dataset):
        if kind == "repeat":
            count = int(stage._input_dataset.cardinality())
            for size in reversed(sizes):
                count = -(-count // size)
            return count if count > 0 else None
        if kind == "batch" and (batch := _constant(getattr(stage, "_batch_size", None))):
            sizes.append(batch)
        elif kind not in KEEPS:
            return None
    return None


def _constant(tensor: Any) -> int | None:
    """The number that a stage was given; None if it is known only when the stage runs."""
    value = sys.modules["tensorflow"].get_static_value(tensor) if tensor is not None else None
    return None if value is None else int(value)
