"""Of a range whose upper end is not known the report tells the lower end, or the upper one where that promises nothing.

A gain of 1.1x to 214x is no prediction; the most that samples can tell is no end; and what code takes that is to be
written anew (``Finding.open_ended``) the run does not show (design note 50).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from tfperfkit import calibration
from tfperfkit.gain import LOW, saving, severity
from tfperfkit.model import Finding, Severity

_LOUDNESS: tuple[Severity, ...] = ("info", "low", "medium", "high")
WIDEST = calibration.WIDEST_RANGE.value


def without_wide_ranges(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order. One that is ``open_ended``, or whose range is wider than ``WIDEST`` or ends at
    ``MAX_SAMPLED``, keeps ``at_least``, its lower end. Where that promises less than a low severity asks for, a wide
    range leaves ``ceiling``, its upper end, and one that is narrower stays."""
    return tuple(_reported(item) for item in findings)


def _reported(item: Finding) -> Finding:
    if item.predicted_range is None:
        return item
    low, high = item.predicted_range
    known = 1 - 1 / max(low, 1.0) >= LOW
    wide = high > WIDEST * low or math.isclose(high, calibration.MAX_SAMPLED.value)
    # A lower end that makes less of the finding than it is says less than its range.
    as_loud = _LOUDNESS.index(severity(saving(low))) >= _LOUDNESS.index(item.severity)
    if not wide and not (item.open_ended and known and as_loud):
        return item
    return msgspec.structs.replace(
        item,
        predicted_speedup=None,
        predicted_range=None,
        at_least=low if known else None,
        ceiling=None if known else high,
    )
