"""Runs in pairs: one of A and one of B close to each other in time, so that what slows the machine slows both."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tfperfkit.statistics.calibration import PAIR_SPREAD
from tfperfkit.statistics.comparison import CONFIDENCE, POWER, Comparison

_ASSUMPTION = "Pairs are independent of each other, and their ratios spread alike around one value."


def paired_ratio(
    a: Sequence[float],
    b: Sequence[float],
    *,
    min_spread: float = PAIR_SPREAD.value,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Return the ratio of two lists of times of runs, ``a[i]`` and ``b[i]`` measured next to each other.

    The geometric mean of the ratios with Student's t on their logarithms: a run that is slow as a whole slows both of
    its pair and drops out. ``min_spread``: the ratios are never taken to spread less than this (standard deviation as
    a share): two pairs that happen to agree are no proof. Raises ValueError if the lists differ in length, are empty or
    hold a time that is not positive.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} runs of A and {len(b)} of B are no pairs")
    logs = [_log(after) - _log(before) for before, after in zip(a, b, strict=True)]
    if not logs:
        raise ValueError("no pair")
    count, mean = len(logs), math.fsum(logs) / len(logs)
    ratio, samples = math.exp(mean), (len(logs), len(logs))
    if count < 2:
        return Comparison(ratio=ratio, samples=samples, reason="one pair tells nothing of its spread")
    spread = _spread(logs, mean, min_spread)
    width, smallest = interval(spread / math.sqrt(count), count - 1.0, confidence)
    return Comparison(
        ratio=ratio,
        low=math.exp(mean - width),
        high=math.exp(mean + width),
        smallest=smallest,
        samples=samples,
        assumption=_ASSUMPTION,
    )


def pairs_needed(
    a: Sequence[float],
    b: Sequence[float],
    difference: float,
    *,
    limit: int = 1000,
    min_spread: float = PAIR_SPREAD.value,
) -> int | None:
    """Return how many pairs in all, spreading as these do, find a change of the time by ``difference`` (0.03: 3 %) four
    times in five; None if more than ``limit``, or if two pairs are not there to tell the spread."""
    logs = [_log(after) - _log(before) for before, after in zip(a, b, strict=True)]
    if len(logs) < 2 or difference <= 0:
        return None
    spread = _spread(logs, math.fsum(logs) / len(logs), min_spread)
    for count in range(2, limit + 1):
        if interval(spread / math.sqrt(count), count - 1.0)[1] <= difference:
            return count
    return None


def interval(error: float, freedom: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """For a standard error of a log ratio: half the width of its interval (log), and the smallest change of the ratio
    (0.03: 3 %) that is found four times in five."""
    from scipy.special import stdtrit

    t = float(stdtrit(freedom, 0.5 + confidence / 2))
    return t * error, math.expm1(min((t + float(stdtrit(freedom, POWER))) * error, 50.0))


def _spread(logs: Sequence[float], mean: float, lower: float) -> float:
    return max(math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1)), lower)


def _log(time: float) -> float:
    if not (time > 0 and math.isfinite(time)):
        raise ValueError(f"{time} is no time")
    return math.log(time)
