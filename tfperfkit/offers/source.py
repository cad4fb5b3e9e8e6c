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


class LineCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a line of the person's took of a step, in ms with all that it called. ``compiled``: a line of a compiled
    function."""

    file: str
    line: int
    function: str
    ms_per_step: float
    compiled: bool = False


class LineCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Lines and what each took of a step in the window of the probe that tells; that of a line in a function is also in
    the line that called the function."""

    rows: tuple[LineCost, ...]


class StepPhases(msgspec.Struct, frozen=True, kw_only=True):
    """ms of a step in compiled functions: forward, backward, updating, and what belongs to no line."""

    forward_ms: float
    backward_ms: float
    update_ms: float
    rest_ms: float
