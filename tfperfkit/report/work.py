"""The work outside of training steps: what was repeated, how often, and where its time went."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.text import Text

from tfperfkit.model import Work
from tfperfkit.report import numbers
from tfperfkit.report.account import between_label
from tfperfkit.report.bar import breakdown
from tfperfkit.report.layout import joined, prose
from tfperfkit.report.paths import name, place
from tfperfkit.report.terminal import Screen

#: Share of a loop's time from which on the time that its counted iterations don't explain is reported: first runs,
#: which trace, and code around the calls that separate iterations.
_OUTSIDE = 0.2
#: Share of a work's time from which on a part is named, and the maximum number of parts.
_SPENT, _MAX = 0.02, 4


def work_lines(work: Sequence[Work], words: Mapping[str, str], screen: Screen) -> list[Text]:
    """For each a line of figures and the bar of its parts."""
    lines: list[Text] = []
    for item in work:
        what = "loop" if item.kind == "loop" else "call"
        share = numbers.alone(item.share_of_run, "share")
        items = [f"{what} at {place(item.where, screen)}", f"{numbers.alone(item.seconds, 's')}, {share} of the run"]
        median = item.steps.median_ms
        if item.iterations is not None and median is not None and math.isfinite(median):
            items += [
                f"{'more than ' if item.iterations_went_on else ''}{numbers.plain(item.iterations)} iterations timed",
                f"median {numbers.alone(median, 'ms', screen.symbols)}",
            ]
            outside = item.seconds - item.iterations * (item.steps.mean_ms or median) / 1e3
            if outside >= _OUTSIDE * item.seconds:  # else the figures would seem to contradict each other
                items.append(f"{numbers.alone(outside, 's')} outside of these")
        lines += [Text(), *joined(items, screen, style="bold")]
        lines += breakdown(item.steps, name_account(item), words, screen, _name_rest(item)) or _spent(item, screen)
    return lines


def _name_rest(item: Work) -> str:
    """Return the label of the rest in the bar: what most of it is, if samples tell."""
    parts = item.steps.breakdown_ms or {}
    whole = sum(parts.values())
    share = parts.get("other", 0.0) / whole if whole > 0 else 0.0
    freed = item.spent_s.get("waiting", 0.0) / item.seconds if item.seconds > 0 else 0.0
    return f"mostly {between_label('waiting')}" if share > 0 and freed >= share / 2 else "other"


def _spent(item: Work, screen: Screen) -> list[Text]:
    """``time spent in: freeing objects 18.1 s, operations 0.9 s (from stack samples)``"""
    largest = sorted(item.spent_s.items(), key=lambda pair: -pair[1])
    shown = [pair for pair in largest if math.isfinite(pair[1]) and pair[1] >= _SPENT * item.seconds][:_MAX]
    if not shown:
        return []
    parts = ", ".join(f"{between_label(kind)} {numbers.alone(seconds, 's')}" for kind, seconds in shown)
    return prose(f"time spent in: {name(parts, screen)} (from stack samples)", screen, style="dim")


def name_account(item: Work) -> str:
    """Return what the parts of the account of a work are parts of."""
    if item.iterations is not None:
        return "the mean iteration"
    whole = item.steps.mean_ms is not None and item.steps.mean_ms / 1e3 >= (1 - _OUTSIDE) * item.seconds
    return f"the {item.kind}" if whole else f"the {item.kind} outside of windows"
