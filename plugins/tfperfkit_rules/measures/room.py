"""How headroom is priced: a range that tells something, or what is gained at least."""

from __future__ import annotations

import msgspec

from tfperfkit.gain import middle, speedup
from tfperfkit.model import Finding
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


def priced(finding: Finding, bounds: tuple[float, float]) -> Finding:
    """The finding with its factor and its range; where that is too wide, with what is gained at least."""
    lower, upper = bounds
    if upper <= calibrated.WIDEST.value * lower:
        return msgspec.structs.replace(finding, predicted_speedup=middle(bounds), predicted_range=bounds)
    return msgspec.structs.replace(finding, at_least=lower)
