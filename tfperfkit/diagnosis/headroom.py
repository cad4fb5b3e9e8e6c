"""What other choices would gain where nothing is wrong: a larger batch, several steps in one call."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit import calibration
from tfperfkit.diagnosis.ranking import gain
from tfperfkit.diagnosis.small import is_small
from tfperfkit.model import Finding

#: A factor from which headroom is the first line's.
LARGE = calibration.LARGE_HEADROOM.value
MANY = calibration.MAX_HEADROOM.value


def split(findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings, and what is headroom, the most first: none where a finding asks for a change that is more than a
    small one: its fix comes first and changes what is left."""
    faults = tuple(item for item in findings if not item.headroom)
    if any(item.severity != "info" and not is_small(item) for item in faults):
        return faults, ()
    rest = sorted((item for item in findings if item.headroom), key=lambda item: -_worth(item))
    return faults, tuple(rest[:MANY])


def large(headroom: Sequence[Finding]) -> Sequence[Finding]:
    """What of it is worth the first line."""
    return [item for item in headroom if _factor(item) >= LARGE]


def _factor(item: Finding) -> float:
    return item.predicted_speedup or item.at_least or 1.0


def _worth(item: Finding) -> float:
    return gain(item) if item.predicted_speedup is not None else 1 - 1 / _factor(item)
