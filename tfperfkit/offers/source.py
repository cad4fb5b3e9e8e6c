"""What lines of the person's source did."""

from __future__ import annotations

import msgspec


class LineCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a line ran in the window."""

    file: str
    line: int
    hits: int


class LineCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of the person's Python and how often each ran, in the window of the probe that tells."""

    rows: tuple[LineCount, ...]


class StepPhases(msgspec.Struct, frozen=True, kw_only=True):
    """ms of a step in compiled functions: forward, backward, updating, and what belongs to no line."""

    forward_ms: float
    backward_ms: float
    update_ms: float
    rest_ms: float
