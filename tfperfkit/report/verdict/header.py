"""The first line of the verdict: the script, how long it ran, how it ended, its steps."""

from __future__ import annotations

import math

from rich.text import Text

from tfperfkit.model import Report, RunInfo, Work
from tfperfkit.report import numbers
from tfperfkit.report.layout import joined
from tfperfkit.report.paths import name, place
from tfperfkit.report.terminal import Screen

#: From this mean on, as a multiple of the median, the mean is given too: half of the time is in few steps.
_FEW_TAKE_MUCH = 1.5


def header_lines(report: Report, screen: Screen) -> list[Text]:
    """``tfperf · train.py · 88 s · 30 steps, median 1.9 s (p90 3.3 s)``"""
    lines = joined(["tfperf", *header_items(report, screen)], screen, style="bold")
    if ended := _ending(report.run):
        lines[0].highlight_words([ended], "yellow")
    return lines


def header_items(report: Report, screen: Screen) -> list[str]:
    """Return the script, how long it ran, how it ended if not well, and its steps."""
    items = []
    if report.run.argv:
        items.append(name(_script(report.run.argv), screen))
    if report.run.wall_s > 0:
        items.append(numbers.short(float(report.run.wall_s), "s", screen.symbols))
    if ended := _ending(report.run):
        items.append(ended)
    return [*items, _repeated(report, screen)]


def _script(argv: tuple[str, ...]) -> str:
    """Return the script's name, or ``-m module``."""
    if argv[0] == "-m" and len(argv) > 1:
        return f"-m {argv[1]}"
    return argv[0].replace("\\", "/").rpartition("/")[2] or argv[0]


def _ending(run: RunInfo) -> str:
    """Return how the script ended, if it did not end well, or that it still runs."""
    code = f" (exit code {run.exit_code})" if run.exit_code is not None and not run.watched else ""
    if run.status == "running":
        return "still running"
    if run.status in ("failed", "killed", "interrupted"):
        return f"{run.status}{code}"
    return f"ended with exit code {run.exit_code}" if run.exit_code and not run.watched else ""


def _repeated(report: Report, screen: Screen) -> str:
    """Return the count and the time of the steps, or else of the longest work outside of steps."""
    steps = report.steps
    if steps.count > 0:
        count = f"{numbers.plain(steps.count)} step{'s' * (steps.count != 1)}"
        return f"{count}{_times(steps.median_ms, steps.p90_ms, steps.mean_ms, screen)}"
    if report.work:
        return _work(report.work[0], screen)
    return "no training steps"


def _times(median: float | None, p90: float | None, mean: float | None, screen: Screen) -> str:
    """Return ``, median 1.9 s (p90 3.3 s)``; the mean too if a few steps take much of the time."""
    if not _is_number(median):
        return ", no clean step timed"
    others = [("p90", p90)] if _is_number(p90) else []
    if mean is not None and _is_number(mean) and mean >= _FEW_TAKE_MUCH * (median or 0.0):
        others.append(("mean", mean))
    shown = ", ".join(f"{word} {numbers.short(value, 'ms', screen.symbols)}" for word, value in others)
    return f", median {numbers.short(median, 'ms', screen.symbols)}{f' ({shown})' if shown else ''}"


def _work(work: Work, screen: Screen) -> str:
    """Return ``loop at infer.py:40, 640 iterations, median 22 ms``."""
    where = f"{work.kind} at {place(work.where, screen).partition(' ')[0]}"
    if work.iterations is None:
        return f"{where}, {numbers.short(work.seconds, 's', screen.symbols)}"
    more = "more than " * work.iterations_went_on
    count = f"{more}{numbers.plain(work.iterations)} iteration{'s' * (work.iterations != 1)}"
    median = work.steps.median_ms
    time = f", median {numbers.short(median, 'ms', screen.symbols)}" if _is_number(median) else ""
    return f"{where}, {count}{time}"


def _is_number(value: float | None) -> bool:
    """Return whether a value is known and finite."""
    return value is not None and math.isfinite(value)
