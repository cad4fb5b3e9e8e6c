"""Whether steps get longer from one to the next: robust against outliers and stretches in which others were at work."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.clock import NS_PER_MS
from tfperfkit.model import History
from tfperfkit.records.steps import Step

TREND_GROUPS = Threshold(
    12,
    "groups",
    "number of groups of steps whose medians make a trend",
    Chosen("66 pairs: enough for an order that is not chance"),
)
TREND_STEPS = Threshold(
    5, "steps", "minimum number of steps in a group", Chosen("the smallest group whose median two outliers don't move")
)
TREND_ORDER = Threshold(
    0.7,
    "number",
    "minimum of Kendall's tau of the groups' medians, for steps that get longer",
    Derived("3.3 standard deviations (0.212) of tau for 12 values without a trend: less than one run in 1000"),
)


class Trend(NamedTuple):
    """``first_ms``, ``last_ms``: a step at the begin and at the end, by the line through the groups' medians, the first
    no less than the shortest step; ``order``: the share of pairs of groups whose later one is longer, less that of the
    others (Kendall's tau)."""

    first_ms: float
    last_ms: float
    order: float

    @property
    def extra(self) -> float:
        """The share of the mean step that is there only because steps got longer."""
        mean = (self.first_ms + self.last_ms) / 2
        return (mean - self.first_ms) / mean if mean > 0 else 0.0


def trend(steps: Sequence[Step]) -> Trend | None:
    """By Theil and Sen: the median slope of all pairs of groups of steps, each with its median. None with few steps."""
    number = TREND_GROUPS.value
    if len(steps) < number * TREND_STEPS.value:
        return None
    groups = [steps[len(steps) * n // number : len(steps) * (n + 1) // number] for n in range(number)]
    medians = [statistics.median(step.duration_ns for step in group) / NS_PER_MS for group in groups]
    # Growth that is faster than a line leads below the shortest step.
    return _through(medians, min(step.duration_ns for step in steps) / NS_PER_MS)


def over_time(history: History) -> Trend | None:
    """The same of a run in watch mode whose steps in between are known by periods only. None with few of these."""
    number = TREND_GROUPS.value
    known = [period.median_ms for period in history.periods if period.median_ms is not None and not period.windows]
    if len(known) < number:
        return None
    groups = [known[len(known) * n // number : len(known) * (n + 1) // number] for n in range(number)]
    return _through([statistics.median(group) for group in groups], min(known))


def _through(medians: Sequence[float], shortest: float) -> Trend:
    """``medians`` of groups in order of time; no step takes less than ``shortest`` (all in ms)."""
    pairs = list(combinations(range(len(medians)), 2))
    slope = statistics.median((medians[b] - medians[a]) / (b - a) for a, b in pairs)
    order = sum((medians[b] > medians[a]) - (medians[b] < medians[a]) for a, b in pairs) / len(pairs)
    middle, reach = statistics.median(medians), slope * (len(medians) - 1) / 2
    return Trend(max(middle - reach, shortest), middle + reach, order)
