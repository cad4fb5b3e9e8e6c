"""Step times as they come: neighbours resemble each other, a run drifts, now and then a step takes far longer."""

from __future__ import annotations

import numpy as np


def step_times(
    random: np.random.Generator,
    steps: int = 200,
    *,
    mean_ms: float = 40.0,
    resemblance: float = 0.5,
    noise: float = 0.03,
    drift: float = 0.01,
    outliers: float = 0.02,
) -> list[float]:
    """AR(1) noise with standard deviation ``noise``, a drift drawn with ``drift``, and rare steps up to several times
    as long. All shares of the mean."""
    shocks = random.standard_normal(steps + 50) * np.sqrt(1 - resemblance**2)
    values = np.empty(steps + 50)
    value = 0.0
    for index, shock in enumerate(shocks):
        value = resemblance * value + shock
        values[index] = value
    times = mean_ms * (1 + noise * values[50:] + random.normal(0, drift) * np.linspace(0, 1, steps))
    struck = random.random(steps) < outliers
    return list(np.where(struck, times * (1.2 + random.exponential(1.0, steps)), times))
