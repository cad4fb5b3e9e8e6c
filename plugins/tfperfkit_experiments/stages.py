"""What a dataset of tf.data was made of, from its end to its source."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

#: What gives as many elements as it takes, in other words or order.
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
    """(Its kind, the dataset) of each stage with one input, the last first; "" for another kind."""
    while (before := getattr(dataset, "_input_dataset", None)) is not None:
        yield _KINDS.get(type(dataset).__name__, ""), dataset
        dataset = before


def constant(tensor: Any) -> int | None:
    """A number that a stage was given; None where it is not known before it runs."""
    value = sys.modules["tensorflow"].get_static_value(tensor) if tensor is not None else None
    return None if value is None else int(value)
