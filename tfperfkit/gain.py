"""Gains from measured shares, by Amdahl's law. All shares are of the steady step, 0 to 1."""

from __future__ import annotations

import math

from tfperfkit import calibration
from tfperfkit.model import Severity
from tfperfkit.records.gains import AtLeast as AtLeast
from tfperfkit.records.gains import Gain as Gain
from tfperfkit.records.gains import Range as Range
from tfperfkit.records.gains import Unknown as Unknown
from tfperfkit.records.gains import UpTo as UpTo
from tfperfkit.records.gains import between as between
from tfperfkit.records.gains import middle as middle
from tfperfkit.records.gains import saving as saving

#: No prediction beyond this factor.
MAX = calibration.MAX_SPEEDUP.value
#: Severities by the share of the step that fixing saves.
HIGH, MEDIUM, LOW = (
    calibration.SEVERITY_HIGH.value,
    calibration.SEVERITY_MEDIUM.value,
    calibration.SEVERITY_LOW.value,
)


def speedup(saved: float) -> float:
    """Return the factor by which a step gets faster when ``saved`` of it (a share) is gone: 1 / (1 - saved)."""
    return min(MAX, 1 / (1 - min(max(saved, 0.0), calibration.MAX_SAVED.value)))


def from_shares(low: float, high: float) -> Range:
    """Return the gain if between ``low`` and ``high`` of the time (shares, in either order) goes."""
    return between(speedup(min(low, high)), speedup(max(low, high)))


def at_least(saved: float) -> AtLeast:
    """Return the gain if ``saved`` of the time (a share) goes, or more."""
    return AtLeast(speedup(saved))


def up_to(share: float) -> UpTo:
    """Return the gain if nobody can tell how much of this share of the time goes."""
    return UpTo(speedup(share))


def interval(share: float, samples: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of ``samples`` samples; +- WINDOW_ERROR when it was measured
    exactly (``samples`` 0)."""
    if samples <= 0:
        error = calibration.WINDOW_ERROR.value
        return max(share - error, 0.0), min(share + error, 1.0)
    z = calibration.Z_95.value
    centre = (share + z * z / (2 * samples)) / (1 + z * z / samples)
    half = z / (1 + z * z / samples) * math.sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def severity(saved: float) -> Severity:
    """Return the severity of a finding whose fix saves this share."""
    return "high" if saved >= HIGH else "medium" if saved >= MEDIUM else "low" if saved >= LOW else "info"


def every(share: float) -> int:
    """Return every how many iterations to do what takes ``share`` of a loop if done in each, so that it takes
    ``SELDOM_SHARE`` or less: 100, 200, 500, 1000 and so on."""
    upper = calibration.SELDOM_SHARE.value
    needed = share * speedup(share) * (1 - upper) / upper
    rounded = (step * 10**power for power in range(2, 9) for step in (1, 2, 5))
    return next((number for number in rounded if number >= needed), 10**9)
