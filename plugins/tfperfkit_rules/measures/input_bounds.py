"""Bounds that several rules about input share."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold

MIN_WAIT = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step spent waiting for input",
    Derived("XProf: an input share of 5 % is moderate"),
)
MIN_PART = Threshold(
    0.3,
    "share",
    "minimum share of the slowest section in a stage, or in what could be cached",
    Chosen("with less the wait has other causes"),
)
PER_STEP = Threshold(
    0.5,
    "number",
    "maximum number of iterators per step for iterators that are made once per epoch, not in the step",
    Chosen("in every other step"),
)
SMALL_BYTES = Threshold(
    16_384,
    "bytes",
    "largest example that is little work itself",
    Chosen("1 us at 16 GB/s, between MEMORY_MIN_BYTES and MEMORY_MAX_BYTES"),
)
