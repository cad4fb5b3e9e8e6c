"""Scores of a predicted range as of a forecast: bias, coverage, width, continuous ranked probability score.

A range is taken as the central 80 % of a forecast whose median is the centre: its ends are the quantiles 0.1 and 0.9,
and between quantiles the forecast is uniform. The score of a single number is its distance from what was measured
(Gneiting and Raftery, "Strictly Proper Scoring Rules, Prediction, and Estimation", 2007).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

#: Quantiles at which a forecast is compared: the score is the mean of their pinball losses, doubled.
_QUANTILES = tuple((number + 0.5) / 200 for number in range(200))
_LOW, _HIGH = 0.1, 0.9


class Forecast(NamedTuple):
    """A predicted range with its centre, what was measured, and the two naive forecasts, all in one unit.

    ``everything``: what is saved if all of the finding's share goes; ``half``: if half of it goes. All are more than 0.
    """

    low: float
    centre: float
    high: float
    measured: float
    everything: float
    half: float

    @property
    def holds(self) -> bool:
        """Whether what was measured is in the range."""
        return self.low <= self.measured <= self.high

    @property
    def score(self) -> float:
        """The continuous ranked probability score, in the unit of the forecast; 0 is perfect."""
        return 2 * statistics.fmean(
            (quantile - (self.measured < value)) * (self.measured - value)
            for quantile in _QUANTILES
            for value in (self.read_quantile(quantile),)
        )

    def read_quantile(self, quantile: float) -> float:
        """Return the value that the forecast stays below with this probability."""
        below, above = (self.centre - self.low) / (0.5 - _LOW), (self.high - self.centre) / (_HIGH - 0.5)
        return self.centre + (quantile - 0.5) * (below if quantile < 0.5 else above)


class Scores(NamedTuple):
    """Scores of several forecasts.

    ``bias``: the median of centre over measured. ``near``, ``nearer``: how many centres are within 1.5 and 1.25
    times. ``width``: the median of upper over lower end. ``score``, ``everything`` and ``half`` are means of the
    score of the forecast and of the two naive ones, each divided by what was measured, so that a long run counts no
    more than a short one.
    """

    count: int
    bias: float
    held: int
    near: int
    nearer: int
    width: float
    score: float
    everything: float
    half: float


def score_all(forecasts: Sequence[Forecast]) -> Scores:
    """Score forecasts together. Raises ``ValueError`` if there are none."""
    if not forecasts:
        raise ValueError("no forecasts")
    ratios = [each.centre / each.measured for each in forecasts]
    return Scores(
        count=len(forecasts),
        bias=statistics.median(ratios),
        held=sum(each.holds for each in forecasts),
        near=sum(1 / 1.5 <= ratio <= 1.5 for ratio in ratios),
        nearer=sum(1 / 1.25 <= ratio <= 1.25 for ratio in ratios),
        width=statistics.median(each.high / max(each.low, 1e-9) for each in forecasts),
        score=statistics.fmean(each.score / each.measured for each in forecasts),
        everything=statistics.fmean(abs(each.everything - each.measured) / each.measured for each in forecasts),
        half=statistics.fmean(abs(each.half - each.measured) / each.measured for each in forecasts),
    )
