"""Reading the differences between two traces: which one matters, which dimensions changed."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_probes.retrace.model import Difference, Way

#: Which difference is named as the cause when a trace has several: the one that must be mended first.
_ORDER: tuple[Way, ...] = (
    "context",
    "structure",
    "keyword",
    "type",
    "object",
    "value",
    "dtype",
    "rank",
    "alias",
    "shape",
    "unknown",
)


def main_difference(cause: Sequence[Difference]) -> Difference | None:
    """The difference that is named as the cause."""
    ranked = sorted(cause, key=lambda d: _ORDER.index(d.way) if d.way in _ORDER else -1)
    return ranked[0] if ranked else None


def changed_dimensions(difference: Difference) -> list[int]:
    """Which dimensions of a tensor differ from the closest trace, from 0. Read from the printed types."""
    before, after = sizes(difference.before), sizes(difference.after)
    if before is None or after is None or len(before) != len(after):
        return []
    return [axis for axis, (old, new) in enumerate(zip(before, after, strict=True)) if old != new and old != "None"]


def sizes(text: str) -> list[str] | None:
    """The sizes in ``f32[32,None]``; None when there are none."""
    inside = text.partition("[")[2].partition("]")[0]
    return inside.split(",") if inside and inside != "?" else None
