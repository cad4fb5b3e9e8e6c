"""Of a range that is no prediction one end is told."""

from __future__ import annotations

import msgspec
import pytest
from tfperfkit_rules.measures import shared

from tfperfkit.diagnosis.wide_ranges import without_wide_ranges
from tfperfkit.fixing.render import gain
from tfperfkit.gain import AtLeast, between, speedup
from tfperfkit.model import Finding, Measurement
from tfperfkit.report.annotation import of_finding
from tfperfkit.report.html.cards import gain_words
from tfperfkit.report.markdown import findings_markdown


def gains(low: float, high: float) -> Finding:
    return Finding(
        code="EAG004",
        family="eager",
        title="predict in a loop",
        severity="high",
        share_of_step=0.9,
        gain=between(low, high),
        where=(),
        evidence=(Measurement("time", 1.0, "ms", "breakdown"),),
        advice="Change it.",
    )


def test_a_range_that_decides_something_stays() -> None:
    found = (gains(1.2, 3.0), gains(5.0, 50.0))
    assert without_wide_ranges(found) == found


@pytest.mark.parametrize(
    ("low", "high", "lower", "upper"),
    [
        (3.1, 100.0, 3.1, None),
        (1.0, 214.0, None, 214.0),
        (1.5, 15.1, 1.5, None),
        (37.0, speedup(shared.MAX_STEP_SHARE.value), 37.0, None),  # no upper end, but the most that samples tell
    ],
)
def test_of_a_wider_one_an_end_is_reported(low: float, high: float, lower: float | None, upper: float | None) -> None:
    (told,) = without_wide_ranges((gains(low, high),))
    assert (told.gain.likely, told.gain.bounds) == (None, None)
    assert (told.gain.low, told.gain.high) == (lower, upper)


def test_every_form_of_a_report_says_at_least() -> None:
    (told,) = without_wide_ranges((gains(3.1, 100.0),))
    assert "| at least 3.1x |" in findings_markdown((told,))
    assert "Fixed, that gets at least 3.1x faster." in of_finding(told).text
    assert gain_words(told) == ("at least 3.1x faster", "the step")
    assert gain(told) == "predicted at least 3.1x, not measured"


def test_of_code_to_be_written_anew_the_lower_end_is_told() -> None:
    narrow = msgspec.structs.replace(gains(2.0, 3.0), gain=AtLeast(2.0, 3.0), saves_s=(5.0, 6.7))
    (told,) = without_wide_ranges((narrow,))
    assert (told.gain.likely, told.gain.bounds, told.gain.low, told.gain.high) == (None, None, 2.0, None)
    assert told.saves_s == (5.0, 6.7)  # these are known better than the factor
    promises_nothing = msgspec.structs.replace(gains(1.0, 3.0), gain=AtLeast(1.0, 3.0))
    assert without_wide_ranges((promises_nothing,)) == (promises_nothing,)
    little = msgspec.structs.replace(gains(1.04, 5.0), gain=AtLeast(1.04, 5.0))  # a high one, of which 4 % are certain
    assert without_wide_ranges((little,)) == (little,)
