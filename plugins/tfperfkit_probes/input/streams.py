"""What the recording half appends and the analysis reads: the streams of the probe, and the records of its own."""

from __future__ import annotations

import msgspec

from tfperfkit.records.pipelines import Node, Returned

DATASETS, ITERATORS, KERAS, READINGS, RETURNED, COUNTS, RAN_OUT, ANSWERS = (
    "datasets",
    "iterators",
    "keras",
    "readings",
    "returned",
    "counts",
    "ran_out",
    "answers",
)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The model of one iterator as a step begins (``step`` 0: at the end)."""

    iterator: int
    step: int
    ns: int
    root: int
    nodes: tuple[Node, ...]
    own_ns: int = 0


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """What hot functions returned in one step."""

    step: int
    functions: list[Returned]
    own_ns: int = 0
