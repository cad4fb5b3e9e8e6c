"""What is known of the process, for the step's account and the rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfperfkit.offers import GarbageCollections, MemoryLimit
from tfperfkit_probes.memory.model import CollectionRecord, MemoryData


def offers(data: MemoryData, collections: Iterable[CollectionRecord] = ()) -> tuple[Any, ...]:
    """The collections, and the limit where there is one."""
    spans = tuple((record.begin_ns, record.end_ns) for record in collections)
    made: list[Any] = [GarbageCollections(spans=spans)]
    if data.limit_bytes:
        made.append(MemoryLimit(limit_bytes=data.limit_bytes))
    return tuple(made)
