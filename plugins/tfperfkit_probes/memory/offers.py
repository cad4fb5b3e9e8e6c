"""What is known of the process, for the step's account and the rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfperfkit.offers import GarbageCollections, MemoryLimit, MemoryUse
from tfperfkit_probes.memory.model import CollectionRecord, MemoryData


def collected(records: Iterable[CollectionRecord]) -> GarbageCollections:
    """When garbage was collected."""
    kept = list(records)
    return GarbageCollections(
        spans=tuple((record.begin_ns, record.end_ns) for record in kept),
        threads=tuple(record.thread for record in kept),
    )


def offers(data: MemoryData, records: Iterable[CollectionRecord] = ()) -> tuple[Any, ...]:
    """The collections, what the process held, and the limit where there is one."""
    made: list[Any] = [collected(records)]
    if data.limit_bytes:
        made.append(MemoryLimit(limit_bytes=data.limit_bytes))
    if data.rss_peak_bytes:
        growth = data.growth_bytes_per_step
        if growth is not None and not data.growth_is_significant:
            growth = 0.0
        made.append(MemoryUse(peak_bytes=data.rss_peak_bytes, growth_bytes_per_step=growth))
    return tuple(made)
