"""Ratios of times that were measured in turn, with their spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
from scipy.stats import bootstrap


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, by bootstrap (2000 resamplings, fixed seed)."""
    if len(set(ratios)) < 2:
        return min(ratios), max(ratios)
    found = bootstrap(
        (list(ratios),), np.median, n_resamples=2000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    return float(found.low), float(found.high)


def words(ratios: Sequence[float]) -> str:
    """The median and its interval, for a table."""
    low, high = interval(ratios)
    return f"{statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})"
