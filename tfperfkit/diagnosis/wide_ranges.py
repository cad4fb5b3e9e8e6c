"""Of a range whose upper end is not known the report tells the lower end, or the upper one if that promises nothing.

A gain of 1.1x to 214x is no prediction; the most that samples can tell is no end; and the run does not show how fast
rewritten code is (``AtLeast``, design note 50).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from tfperfkit import calibration
from tfperfkit.gain import LOW, AtLeast, UpTo, severity
from tfperfkit.model import Finding, Severity

_LOUDNESS: tuple[Severity, ...] = ("info", "low", "medium", "high")
WIDEST = calibration.WIDEST_RANGE.value


def without_wide_ranges(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Returns the findings in their order. One whose gain is ``AtLeast``, or whose range is wider than ``WIDEST`` or
    ends at ``MAX_SAMPLED``, keeps the lower end. If that promises less than a low severity asks for, a wide range
    leaves its upper end, and a narrower one stays."""
    return tuple(_reported(item) for item in findings)


def _reported(item: Finding) -> Finding:
    if item.gain.bounds is None:
        return item
    low, high = item.gain.bounds
    known = item.gain.surely >= LOW
    wide = high > WIDEST * low or math.isclose(high, calibration.MAX_SAMPLED.value)
    # A lower end that makes less of the finding than it is says less than its range.
    as_loud = _LOUDNESS.index(severity(item.gain.surely)) >= _LOUDNESS.index(item.severity)
    if not wide and not (isinstance(item.gain, AtLeast) and known and as_loud):
        return item
    return msgspec.structs.replace(item, gain=AtLeast(low) if known else UpTo(high))
