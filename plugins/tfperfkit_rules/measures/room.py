"""How headroom is priced: a range that tells something, or what is gained at least."""

from __future__ import annotations

from tfperfkit.gain import AtLeast, Range, between, speedup
from tfperfkit_rules.calibration import headroom as calibrated


def widened(bounds: tuple[float, float]) -> tuple[float, float]:
    """The bounds of a factor with what the model itself is wrong by."""
    lower, upper = sorted(bounds)
    return (
        1 + calibrated.GAIN_MIN.value * max(lower - 1, 0.0),
        1 + calibrated.GAIN_MAX.value * max(upper - 1, 0.0),
    )


def factor(whole_ms: float, saved_ms: float) -> float:
    """The factor for examples a second when ``saved_ms`` of ``whole_ms`` go."""
    return speedup(saved_ms / whole_ms) if whole_ms > 0 else 1.0


def range_or_least(low: float, high: float) -> Range | AtLeast:
    """The gain of a factor from ``low`` to ``high``; if that is too wide to tell something, at least ``low``."""
    return between(low, high) if high <= calibrated.WIDEST.value * low else AtLeast(low)
