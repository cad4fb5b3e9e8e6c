"""The stack samples of the whole run with the time that each stands for."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.records.samples import Stack
from tfperfkit.rule import Evidence

MOMENT_MAX_NS = Threshold(
    500_000_000,
    "ns",
    "longest time that a stack sample stands for",
    Derived("samples are taken at least every 0.5 s: what is longer was not seen"),
)


def moments(evidence: Evidence) -> Iterator[tuple[int, Stack, int]]:
    """(when, stack, ns since the sample before): one that C code has held up sees the line that it was held up by."""
    taken = evidence.log.inside(evidence.log.whole)
    for (before, _), (when, stack) in zip(taken, taken[1:], strict=False):
        yield when, stack, min(when - before, MOMENT_MAX_NS.value)
