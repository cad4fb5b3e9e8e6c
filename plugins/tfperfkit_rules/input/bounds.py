"""Bounds that several rules about input share."""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold

MIN_WAIT = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "of the step in waiting for input",
    Derived("XProf: an input share of 5 % is moderate"),
)
MIN_PART = Threshold(
    0.3,
    "share",
    "of the slowest section, what a stage or what is cached must have",
    Chosen("the wait has other causes"),
)
PER_STEP = Threshold(
    0.5,
    "number",
    "iterators a step: more are made in the step itself, not once an epoch",
    Chosen("in every other step"),
)
SMALL_BYTES = Threshold(
    16_384,
    "bytes",
    "an example up to this size is little work itself",
    Chosen("1 us at 16 GB/s, the middle of MEMORY_*"),
)
