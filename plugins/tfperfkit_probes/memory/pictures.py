"""Memory over the steps."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.picture import Line, Picture, Series
from tfperfkit_probes.memory.model import Grower, MemoryData


def pictures(data: Any) -> list[Picture]:
    """Draw the memory of the process over wall-clock time: steps differ in length, and growth before steps counts."""
    found = msgspec.convert(data, MemoryData, strict=False)
    if len(found.series) < 3:
        return []
    seconds, steps, rss, own = zip(*found.series, strict=True)
    lines = [
        Line(label="resident (RSS)", unit="bytes", values=rss),
        Line(label="without files and shared pages", unit="bytes", values=own),
    ]
    if any(steps):
        lines.append(Line(label="step", unit="count", values=steps))
    return [
        Series(
            key="memory",
            title="Memory of the process",
            x_label="seconds since recording began",
            x=seconds,
            lines=tuple(lines),
            note=_note(found),
        )
    ]


def _note(data: MemoryData) -> str:
    if not data.growth_is_significant or not data.growth_bytes_per_step:
        return "It does not grow with the steps." if data.growth_bytes_per_step is not None else ""
    grows = "; ".join(_describe_grower(item) for item in data.growers[:3])
    return f"It grows by {data.growth_bytes_per_step / 1024:,.0f} KiB at each step{f': {grows}' if grows else ''}."


def _describe_grower(item: Grower) -> str:
    place = f"{item.file.rpartition('/')[2]}:{item.line}"
    return f"{item.name or item.kind} at {place} went from {item.first:,} to {item.last:,} elements"
