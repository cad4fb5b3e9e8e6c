"""Two series of step times, each of one run, compared by the means of blocks of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from tfperfkit.statistics.autocorrelation import autocorrelation_time
from tfperfkit.statistics.calibration import (
    BLOCK_TIMES,
    FEWEST_BLOCKS,
    MAX_BLOCKS,
    MAX_DEPENDENCE,
    MAX_OUTLIERS,
    MIN_BLOCKS,
    MIN_STEPS,
    OUTLIER_Z,
    RUN_SPREAD,
)
from tfperfkit.statistics.comparison import Comparison
from tfperfkit.statistics.paired import interval

if TYPE_CHECKING:
    import numpy

_ASSUMPTION = (
    "This assumes a standard deviation of {spread:.1f} % from run to run, which two single runs cannot measure."
)
#: Degrees of freedom from which on Student's t is the normal distribution.
_ENDLESS = 1e6


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """Mean of a series, with its error.

    ``error``: the standard error of ``mean`` from its ``blocks``, as a share of the mean, with ``freedom`` degrees of
    freedom; no blocks if the series is too short. ``drift``: by what share of the mean the time changes from the first
    to the last step, as far as that is more than noise. ``outliers``: steps that were cut to ``limit``.
    """

    mean: float
    error: float
    freedom: float
    blocks: int
    drift: float
    outliers: int
    limit: float


def compare_series(
    a: Sequence[float], b: Sequence[float], *, run_spread: float = RUN_SPREAD.value, keep_outliers: bool = False
) -> Comparison:
    """Return the ratio of the ordinary step time of run B to that of run A, from the times of their clean steps in
    order.

    Steps resemble their neighbours, so blocks of steps are the unit; a block is several autocorrelation times long.
    Welch's t on the means of blocks. On top come, as variances: a drift within a run (the level of a run that drifts is
    not known better than that), and ``run_spread``, by which runs of the same thing differ, which one run of each
    cannot show. Rare steps far above the others are cut to the limit of what is ordinary, unless ``keep_outliers``.
    Times that are not positive and finite are left out.
    """
    series = [[time for time in times if time > 0 and math.isfinite(time)] for times in (a, b)]
    counts = (len(series[0]), len(series[1]))
    if not all(counts):
        raise ValueError("a series without a step")
    before, after = (level(times, keep_outliers=keep_outliers) for times in series)
    log = math.log(after.mean / before.mean)
    if min(counts) < MIN_STEPS.value:
        reason = f"fewer than {MIN_STEPS.value} clean steps ({counts[0]} and {counts[1]})"
        return Comparison(ratio=math.exp(log), unit="blocks", samples=(0, 0), reason=reason)
    if not (before.blocks and after.blocks):
        reason = "too few steps for how much they resemble their neighbours"
        return Comparison(ratio=math.exp(log), unit="blocks", samples=(before.blocks, after.blocks), reason=reason)
    variances = [one.error**2 for one in (before, after)]
    noise = sum(variances)
    # The level of a run that drifts evenly by d lies somewhere in it: d squared over 12, as of an even distribution.
    certain = 2 * run_spread**2 + (before.drift**2 + after.drift**2) / 12
    # Welch and Satterthwaite: what is taken as known has no end of freedom.
    weights = sum(v**2 / one.freedom for v, one in zip(variances, (before, after), strict=True))
    freedom = min((noise + certain) ** 2 / weights, _ENDLESS) if weights else _ENDLESS
    width, smallest = interval(math.sqrt(noise + certain), freedom)
    return Comparison(
        ratio=math.exp(log),
        low=math.exp(log - width),
        high=math.exp(log + width),
        smallest=smallest,
        unit="blocks",
        samples=(before.blocks, after.blocks),
        assumption=_ASSUMPTION.format(spread=100 * run_spread),
        notes=_notes(before, after, counts),
    )


def level(times: Sequence[float], *, keep_outliers: bool = False) -> Level:
    """Mean, error and drift of one series of positive times."""
    import numpy

    values = numpy.asarray(times, dtype=float)
    limit = math.inf if keep_outliers else _limit(values)
    outliers = int((values > limit).sum())
    values = numpy.minimum(values, limit)
    mean = float(values.mean())
    count = len(values)
    if count < MIN_STEPS.value:
        return Level(mean=mean, error=0.0, freedom=0.0, blocks=0, drift=0.0, outliers=outliers, limit=limit)
    slope, flat = _trend(values)
    time = autocorrelation_time(flat)
    if count < FEWEST_BLOCKS.value * time:
        return Level(mean=mean, error=0.0, freedom=0.0, blocks=0, drift=0.0, outliers=outliers, limit=limit)
    # Shorter blocks rather than fewer than ten, but none shorter than an autocorrelation time.
    fewest = min(MIN_BLOCKS.value, count / time)
    blocks = int(min(max(count / (BLOCK_TIMES.value * time), fewest), MAX_BLOCKS.value, count // 2))
    means = _block_means(flat, blocks)
    spread = float(means.var(ddof=2)) * _dependence(means)  # two degrees went into the mean and the trend
    error = math.sqrt(spread / blocks)
    # The slope's own error makes d squared too large by 12 times the mean's variance on average.
    drift = math.sqrt(max(slope**2 - 12 * error**2, 0.0))
    return Level(
        mean=mean,
        error=error / mean,
        freedom=blocks - 2.0,
        blocks=blocks,
        drift=math.copysign(drift, slope) / mean,
        outliers=outliers,
        limit=limit,
    )


def _limit(values: numpy.ndarray) -> float:
    """Above this a step is an outlier; infinite where so many lie above that they are ordinary, or none is known."""
    import numpy

    middle = float(numpy.median(values))
    # 1.4826: of a normal distribution the median absolute deviation times this is its standard deviation.
    deviation = 1.4826 * float(numpy.median(numpy.abs(values - middle)))
    limit = middle + OUTLIER_Z.value * deviation
    return limit if deviation > 0 and float((values > limit).mean()) < MAX_OUTLIERS.value else math.inf


def _trend(values: numpy.ndarray) -> tuple[float, numpy.ndarray]:
    """By how much the straight line through the values changes from the first to the last, and them without it."""
    import numpy

    position = numpy.linspace(-0.5, 0.5, len(values))
    slope = float(position @ values / (position @ position))
    return slope, values - slope * position


def _block_means(values: numpy.ndarray, blocks: int) -> numpy.ndarray:
    import numpy

    return numpy.array([block.mean() for block in numpy.array_split(values, blocks)])


def _dependence(means: numpy.ndarray) -> float:
    """Return the dependence of neighbouring blocks, as a factor of the variance of their mean: (1 + r) / (1 - r)."""
    centred = means - means.mean()
    variance = float(centred @ centred)
    if variance <= 0:
        return 1.0
    # The estimate of r from n values is too low by about (1 + 4 r) / n (Marriott and Pope, Biometrika 41, 1954).
    r = float(centred[1:] @ centred[:-1]) / variance
    r += (1 + 4 * r) / len(means)
    r = min(max(r, 0.0), MAX_DEPENDENCE.value)
    return (1 + r) / (1 - r)


def _notes(before: Level, after: Level, counts: tuple[int, int]) -> tuple[str, ...]:
    notes = []
    for name, one, count in (("A", before, counts[0]), ("B", after, counts[1])):
        if abs(one.drift) >= 2 * RUN_SPREAD.value:
            way = "slow down" if one.drift > 0 else "get faster"
            notes.append(f"{name} drifts: its steps {way} by {100 * abs(one.drift):.1f} % from the first to the last.")
        if one.outliers:
            notes.append(f"{name}: {one.outliers} of {count} steps took far longer than the others; they are cut.")
    return tuple(notes)
