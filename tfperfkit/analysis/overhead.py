"""Cost of tfperf in this very run, and the effect of other programs, from the session's notes of its own time."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from tfperfkit import calibration
from tfperfkit.model import Overhead
from tfperfkit.records.steps import StepTable

#: From this share of the steady time on which the training thread waited for a processor, times are called rough.
BUSY = calibration.BUSY.value
#: Shorter stretches of clean steps tell no share.
_MIN_NS = calibration.BUSY_NS.value
Row = tuple[int, int, int, int | None]


def overhead(rows: Iterable[object], table: StepTable, windows: Iterable[str], by_python: object = "") -> Overhead:
    """``rows`` of the stream ``cost``: ``[ns, hooks ns, pulse ns, waited ns]``, cumulated, twice a second;
    ``by_python`` as the script's process noted it."""
    clean = [step.duration_ns for step in table.clean]
    begun = min((step.begin_ns for step in table.clean), default=0)
    per_probe: dict[str, float] = {}
    middle = statistics.median(clean) if clean else 0
    if middle:  # none, or damaged: no time went by
        for name in windows:
            # One that opened before the steps were steady holds a step that was traced in it: no cost of the probe.
            inside = [step.duration_ns for step in table.in_window(name) if step.begin_ns >= begun]
            if inside:
                per_probe[name] = statistics.median(inside) / middle
    noted = [row for row in map(_read_row, rows) if row is not None]
    waited = _waited(noted, table)
    notes: tuple[str, ...] = ()
    if waited is not None and waited >= BUSY:
        notes = (
            f"CPU contention. The training thread waited for a free core {100 * waited:.0f} % of the time, so "
            "times are approximate, and predicted ranges wider.",
        )
    return Overhead(
        baseline_ratio=_hooks_ratio(noted, table),
        per_probe=per_probe,
        waited_share=waited,
        notes=notes,
        by_python=by_python if isinstance(by_python, str) else "",
    )


def waited_share(rows: Iterable[object], table: StepTable) -> float | None:
    """Return the share of the time from the first clean step to the last in which the training thread had no CPU core;
    ``rows`` as in ``overhead``.

    None if that was not noted, or not for long enough.
    """
    return _waited([row for row in map(_read_row, rows) if row is not None], table)


def _read_row(row: object) -> Row | None:
    """Return a record; None if it is damaged."""
    if not isinstance(row, list) or len(row) not in (3, 4) or not all(isinstance(value, int) for value in row[:3]):
        return None
    waited = row[3] if len(row) == 4 and isinstance(row[3], int) else None
    return row[0], row[1], row[2], waited


def _hooks_ratio(rows: list[Row], table: StepTable) -> float | None:
    """One plus the share of the clean steps' time that our hooks and our thread took; None if too little is known.

    Pairs of notes between which only clean steps ran count.
    """
    other = [(step.begin_ns, step.end_ns) for step in table.steps if step.window != "clean"]
    clean = table.clean
    spent = span = 0
    for before, after in zip(rows, rows[1:], strict=False):
        if not clean or before[0] < clean[0].begin_ns or after[0] > clean[-1].end_ns:
            continue
        if any(begin < after[0] and end > before[0] for begin, end in other):
            continue
        spent += after[1] - before[1] + after[2] - before[2]
        span += after[0] - before[0]
    return 1 + spent / span if span >= _MIN_NS else None


def _waited(rows: list[Row], table: StepTable) -> float | None:
    """Return the share of time from the first clean step to the last in which the training thread had no CPU core."""
    if not table.clean:
        return None
    begin, end = table.clean[0].begin_ns, table.clean[-1].end_ns
    inside = [(row[0], row[3]) for row in rows if begin <= row[0] <= end and row[3] is not None]
    if len(inside) < 2 or inside[-1][0] - inside[0][0] < _MIN_NS:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])
