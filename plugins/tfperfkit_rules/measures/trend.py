"""Whether steps get longer from one to the next: robust against outliers and stretches in which others were at work."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from tfperfkit.clock import NS_PER_MS
from tfperfkit.records.steps import Step
from tfperfkit_rules.calibration import step as calibrated


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
    number = calibrated.TREND_GROUPS.value
    if len(steps) < number * calibrated.TREND_STEPS.value:
        return None
    groups = [steps[len(steps) * n // number : len(steps) * (n + 1) // number] for n in range(number)]
    medians = [statistics.median(step.duration_ns for step in group) / NS_PER_MS for group in groups]
    pairs = list(combinations(range(number), 2))
    slope = statistics.median((medians[b] - medians[a]) / (b - a) for a, b in pairs)
    order = sum((medians[b] > medians[a]) - (medians[b] < medians[a]) for a, b in pairs) / len(pairs)
    middle, reach = statistics.median(medians), slope * (number - 1) / 2
    shortest = min(step.duration_ns for step in steps) / NS_PER_MS  # what grows faster than a line leads below it
    return Trend(max(middle - reach, shortest), middle + reach, order)
