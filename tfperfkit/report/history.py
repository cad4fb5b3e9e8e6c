"""A run in watch mode over time: its periods, what changed, the windows that were opened for it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tfperfkit.model import History, Period, ProbeOutcome, Report, Table, WatchedWindow, make_columns
from tfperfkit.report import numbers
from tfperfkit.report.paths import short_path

#: Rows of the console's table.
_ROWS = 12
_MAX_LISTED = 10


def over_time(report: Report) -> ProbeOutcome | None:
    """Return the section; None without watch mode."""
    found = report.history
    if found is None:
        return None
    tables = [table for table in (_periods(found.periods), _windows(report, found), _changes(found)) if table.rows]
    notes = []
    if found.dropped_steps:
        notes.append(
            f"Of {numbers.plain(found.dropped_steps)} steps the periods are all that was kept: step times, account and "
            "findings above are of the first steps and the last ones."
        )
    cost = found.ours_share
    words = f"tfperf took {numbers.alone(cost, 'share')} of a processor" if cost is not None else ""
    return ProbeOutcome(
        name="over time", status="ok", tables=tuple(tables), summary=words or "nothing was kept yet", notes=tuple(notes)
    )


def length(seconds: float) -> str:
    """``40 s``, ``2 min``, ``1 h 05``, ``3 d 04 h``."""
    if seconds < 60:
        return f"{max(seconds, 0):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02}" if hours < 48 else f"{hours // 24} d {hours % 24:02} h"


def _periods(periods: Sequence[Period]) -> Table:
    size = -(-len(periods) // _ROWS) or 1
    groups = [periods[at : at + size] for at in range(0, len(periods), size)]
    return Table(
        title="Step times, by period",
        columns=make_columns(
            "until",
            "steps: count",
            "median: ms",
            "p90: ms",
            "longest: ms",
            "traces: count",
            "resident: bytes",
            "most samples in",
        ),
        rows=tuple(_period_row(group) for group in groups),
        note="median and p90 of a longer period: the mean of those of its minutes, by steps",
    )


def _period_row(group: Sequence[Period]) -> tuple[str | int | float | None, ...]:
    """Return the row of a group of periods."""
    steps = sum(period.steps for period in group)

    def mean(values: Sequence[float | None]) -> float | None:
        pairs = [(value, period.steps) for value, period in zip(values, group, strict=True) if value is not None]
        weight = sum(count for _, count in pairs)
        return sum(value * count for value, count in pairs) / weight if weight else None

    longest = [period.max_ms for period in group if period.max_ms is not None]
    doing: dict[str, float] = {}
    for period in group:
        for name, share in period.doing.items():
            doing[name] = doing.get(name, 0.0) + share / len(group)
    largest = sorted(doing.items(), key=lambda item: -item[1])[:2]
    return (
        length(group[-1].end_s),
        steps,
        mean([period.median_ms for period in group]),
        mean([period.p90_ms for period in group]),
        max(longest, default=None),
        sum(period.traces for period in group),
        group[-1].rss_bytes or None,
        ", ".join(f"{name.replace('_', ' ') or 'other'} {numbers.alone(share, 'share')}" for name, share in largest),
    )


def _windows(report: Report, found: History) -> Table:
    opened = [window for window in found.windows if window.name][-_MAX_LISTED:]
    return Table(
        title="Windows",
        columns=make_columns("at", "why", "what it found", "in full"),
        rows=tuple(
            (length(each.at_s), each.text, each.headline or ("" if each.kept else "(removed)"), _command(report, each))
            for each in opened
        ),
    )


def _command(report: Report, window: WatchedWindow) -> str:
    folder = f"{report.run.directory.rstrip('/')}/{window.name}"
    return f"tfperf report {shlex.quote(short_path(folder))}" if window.kept else ""


def _changes(found: History) -> Table:
    """Return the changes noticed without a window, and why there is none."""
    refused = {window.text: window.refused for window in found.windows if window.refused}
    opened = {window.text for window in found.windows if window.name}
    noticed = [change for change in found.changes if change.text not in opened]
    listed = noticed[-_MAX_LISTED:]
    left = len(noticed) - len(listed)
    return Table(
        title="Noticed, without a window",
        columns=make_columns("at", "step: count", "what", "why none"),
        rows=tuple((length(each.at_s), each.step or None, each.text, refused.get(each.text, "")) for each in listed),
        note=f"{left} earlier ones are in the JSON report" if left else "",
    )
