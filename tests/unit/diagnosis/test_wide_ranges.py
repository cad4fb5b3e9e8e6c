"""Of a range that is no prediction one end is told."""

from __future__ import annotations

import pytest

from tfperfkit.diagnosis.wide_ranges import without_wide_ranges
from tfperfkit.model import Finding, Measurement


def gains(low: float, high: float) -> Finding:
    return Finding(
        code="EAG004",
        family="eager",
        title="predict in a loop",
        severity="high",
        share_of_step=0.9,
        predicted_speedup=(low * high) ** 0.5,
        predicted_range=(low, high),
        where=(),
        evidence=(Measurement("time", 1.0, "ms", "breakdown"),),
        advice="Change it.",
    )


def test_a_range_that_decides_something_stays() -> None:
    found = (gains(1.2, 3.0), gains(5.0, 50.0))
    assert without_wide_ranges(found) == found


@pytest.mark.parametrize(
    ("low", "high", "least", "most"), [(3.1, 100.0, 3.1, None), (1.0, 214.0, None, 214.0), (1.5, 15.1, 1.5, None)]
)
def test_of_a_wider_one_an_end_is_told(low: float, high: float, least: float | None, most: float | None) -> None:
    (told,) = without_wide_ranges((gains(low, high),))
    assert (told.predicted_speedup, told.predicted_range) == (None, None)
    assert (told.at_least, told.ceiling) == (least, most)
