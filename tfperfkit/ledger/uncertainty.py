"""How far the samples leave open what a figure is: 95 % intervals of shares and of seconds.

Samples are fewer in some stretches of a run than in others, so each stands for another length of time. The interval is
that of so many samples of equal length as are known as well as these (Kish's effective sample size: the square of the
sum of the weights, over the sum of their squares).
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.gain import interval
from tfperfkit.records.samples import SampleLog

Range = tuple[float, float]


def count_effective(weights: Iterable[float]) -> int:
    """Return how many samples of equal length tell as much as these; ``weights``: what each stands for."""
    listed = list(weights)
    squares = sum(weight * weight for weight in listed)
    return round(sum(listed) ** 2 / squares) if squares else 0


def count_run_samples(log: SampleLog) -> int:
    """Return the effective number of samples of a whole run."""
    return count_effective(float(weight) for _, weight in log.weighted(log.whole))


def estimate_range(value: float, whole: float, samples: int) -> Range | None:
    """Return the 95 % interval of a value that is a part of ``whole``, in its unit; None without samples."""
    if samples <= 0 or whole <= 0:
        return None
    low, high = interval(min(max(value / whole, 0.0), 1.0), samples)
    return low * whole, high * whole
