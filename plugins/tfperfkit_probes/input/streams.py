"""The probe's streams and its own records: the recording half appends them, the analysis reads them."""

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
    """The values that hot functions returned in one step."""

    step: int
    functions: list[Returned]
    own_ns: int = 0
