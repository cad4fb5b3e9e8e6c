"""Records that watch mode keeps of a run of days: rows of some seconds, rows of a minute, why windows were opened, and
the history that a report makes from these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

#: Folders of a run directory: the last minutes in full, rows of seconds, runs of the windows.
DETAILS, BLOCKS, WINDOWS = "details", "blocks", "windows"
#: Files of the history: rows of minutes (of the script's process), changes that were found (of the parent), a window
#: that is asked for, and the answer.
MINUTES, CHANGES, ASKED, ANSWER = "minutes.jsonl", "changes.jsonl", "asked.json", "answer.json"

#: Why a window was opened.
Why = Literal["slower", "traced", "growth", "stall", "signal", "poke"]
#: These a user asked for: neither cooldown nor budget keeps them waiting.
ASKED_FOR = frozenset({"signal", "poke"})


class WatchPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is watched. ``block_s``: length of a row that the tests for changes are fed with; ``cooldown_s``:
    after a window; ``budget``: the share of the run's time that windows may take, but for those that a user asks
    for; ``details_mb``: size of the ring of details. Shorter rows are for trying: minutes, and the pauses between
    samples, shrink with them (``pace``)."""

    block_s: float = 5.0
    cooldown_s: float = 300.0
    budget: float = 0.005
    details_mb: float = 14.0

    @property
    def pace(self) -> float:
        """Return the factor that shortens times: 1 as a rule, never more."""
        return min(self.block_s / 5.0, 1.0)


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the run: some seconds, a minute, or several that were joined later.

    ``steps`` that ended in it and what they took: of neighbours that were joined the median and p90 are means by steps.
    ``step``: number of the last one. ``traces``: functions that were traced, in ``traced_ns``. ``rss_bytes``: resident
    memory at its end. ``samples``: stack samples by activity (``records.parts``). ``ours_ns``: processor time of
    tfperf's thread and hooks. ``wall_s``: the calendar's time at its end.

    For a process that trains with others: ``inside_ns`` before samples in compiled functions, in which it had
    ``busy_ns`` of CPU cores (no more than one at a time); for a minute ``ran_ns`` and ``ready_ns``, of all its threads,
    on a CPU core and ready without one.
    """

    begin_ns: int
    end_ns: int
    wall_s: float = 0.0
    step: int = 0
    steps: int = 0
    total_ns: int = 0
    median_ns: float = 0.0
    p90_ns: float = 0.0
    max_ns: float = 0.0
    last_step_ns: int = 0  # when the last step so far ended; 0: none has
    traces: int = 0
    traced_ns: int = 0
    rss_bytes: int = 0
    samples: dict[str, int] = {}
    ours_ns: int = 0
    windows: int = 0  # that were open in it
    inside_ns: int = 0
    busy_ns: int = 0
    ran_ns: int = 0
    ready_ns: int = 0


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Something changed, at ``ns``: in words for a user, and the step that ran."""

    why: Why
    ns: int
    text: str
    wall_s: float = 0.0
    step: int = 0


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A window that is asked for; ``id`` tells requests apart."""

    id: int
    why: Why
    text: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a request for a window: the folder of the window's own run, or why there is none."""

    id: int
    window: str = ""
    refused: str = ""


def joined(parts: list[Stretch]) -> Stretch:
    """Neighbours as one stretch, in order; at least one."""
    first, last = parts[0], parts[-1]
    steps = sum(part.steps for part in parts)
    samples: dict[str, int] = {}
    for part in parts:
        for name, count in part.samples.items():
            samples[name] = samples.get(name, 0) + count

    def mean(values: Iterable[float]) -> float:
        weighted = sum(value * part.steps for value, part in zip(values, parts, strict=True))
        return weighted / steps if steps else 0.0

    return Stretch(
        begin_ns=first.begin_ns,
        end_ns=last.end_ns,
        wall_s=last.wall_s,
        step=last.step,
        steps=steps,
        total_ns=sum(part.total_ns for part in parts),
        median_ns=mean(part.median_ns for part in parts),
        p90_ns=mean(part.p90_ns for part in parts),
        max_ns=max(part.max_ns for part in parts),
        last_step_ns=last.last_step_ns,
        traces=sum(part.traces for part in parts),
        traced_ns=sum(part.traced_ns for part in parts),
        rss_bytes=last.rss_bytes,
        samples=samples,
        ours_ns=sum(part.ours_ns for part in parts),
        windows=sum(part.windows for part in parts),
        inside_ns=sum(part.inside_ns for part in parts),
        busy_ns=sum(part.busy_ns for part in parts),
        ran_ns=sum(part.ran_ns for part in parts),
        ready_ns=sum(part.ready_ns for part in parts),
    )


def read(rows: Iterable[Any], kind: type[Any]) -> list[Any]:
    """Return the rows that are of this kind; damaged ones are left out."""
    found = []
    for row in rows:
        try:
            found.append(msgspec.convert(row, kind))
        except msgspec.ValidationError:
            continue
    return found


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
    """A change that watch mode noticed: its kind, ``at_s`` since the run began, and words."""

    why: str
    at_s: float
    step: int
    text: str


class WatchedWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A window that watch mode opened: its own run's folder inside that of the run, the reason, and what it found.
    Refused ones have no ``name``, and ``refused`` says why. ``kept``: the folder still exists."""

    why: str
    text: str
    at_s: float
    name: str = ""
    refused: str = ""
    headline: str = ""
    kept: bool = False


class History(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run in watch mode. ``dropped_steps``: how many steps are known by their periods only. ``ours_share``: the
    share of the time in which tfperf's hooks and thread used a CPU core."""

    periods: tuple[Period, ...] = ()
    changes: tuple[RunChange, ...] = ()
    windows: tuple[WatchedWindow, ...] = ()
    dropped_steps: int = 0
    ours_share: float | None = None
