"""A run in watch mode over all of its time, as the report has it."""

from __future__ import annotations

import msgspec


class Period(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a run in watch mode, from its rows of minutes. ``begin_s`` and ``end_s`` since the run began; times
    are of the steps that ended in it; ``doing``: shares of the stack samples by activity; ``rss_bytes`` at its end;
    ``step``: number of the last step. ``compute_share``: of a process that trains with others, of the time in compiled
    functions, in which it computed; else None."""

    begin_s: float
    end_s: float
    steps: int
    median_ms: float | None = None
    p90_ms: float | None = None
    max_ms: float | None = None
    traces: int = 0
    traced_s: float = 0.0
    rss_bytes: int = 0
    doing: dict[str, float] = {}
    windows: int = 0
    step: int = 0
    compute_share: float | None = None


class RunChange(msgspec.Struct, frozen=True):
    """Something that watch mode noticed: why it is of interest, ``at_s`` since the run began, in words."""

    why: str
    at_s: float
    step: int
    text: str


class WatchedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A window that watch mode opened: the folder of its own run below that of the run, why, and what it found. Those
    that were refused have no ``name``, and ``refused`` says why. ``kept``: its folder is still there."""

    why: str
    text: str
    at_s: float
    name: str = ""
    refused: str = ""
    headline: str = ""
    kept: bool = False


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A run in watch mode over all of its time. ``dropped_steps``: those of which only the periods are known, not each.
    ``ours_share``: of the time, what tfperf's hooks and thread took of a processor."""

    periods: tuple[Period, ...] = ()
    changes: tuple[RunChange, ...] = ()
    windows: tuple[WatchedWindow, ...] = ()
    dropped_steps: int = 0
    ours_share: float | None = None
