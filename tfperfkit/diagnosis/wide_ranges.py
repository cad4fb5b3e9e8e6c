"""A gain of 1.1x to 214x is no prediction: of such a range the report tells the lower end, or the upper one alone. Nor
is the most that samples can tell an upper end."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from tfperfkit import calibration
from tfperfkit.gain import LOW
from tfperfkit.model import Finding

WIDEST = calibration.WIDEST_RANGE.value


def without_wide_ranges(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in their order. One whose range is wider than ``WIDEST``, or ends at ``MAX_SAMPLED``, keeps
    ``at_least``, its lower end; where that promises less than a low severity asks for, ``ceiling``, its upper end."""
    return tuple(_reported(item) for item in findings)


def _reported(item: Finding) -> Finding:
    if item.predicted_range is None:
        return item
    low, high = item.predicted_range
    if high <= WIDEST * low and not math.isclose(high, calibration.MAX_SAMPLED.value):
        return item
    known = 1 - 1 / max(low, 1.0) >= LOW
    return msgspec.structs.replace(
        item,
        predicted_speedup=None,
        predicted_range=None,
        at_least=low if known else None,
        ceiling=None if known else high,
    )
