"""What a remedy would take off a run, in words."""

from __future__ import annotations

import math

import pytest
from test_report_forms import finding

from tfperfkit.gain import UpTo
from tfperfkit.report.saved import saved_words


@pytest.mark.parametrize(
    ("saves_s", "said"),
    [
        ((12.6, 16.4), "saves 13 to 16 s of this run"),
        ((2.31, 4.0), "saves 2.3 to 4.0 s of this run"),
        ((16.0, 16.2), "saves about 16 s of this run"),
        ((0.0, 3.2), "saves up to 3.2 s of this run"),
        ((5400.0, 7200.0), "saves 5,400 to 7,200 s of this run"),
        ((0.01, 0.04), ""),
        ((math.nan, 3.0), ""),
        ((1.0, math.inf), ""),
        (None, ""),
    ],
)
def test_seconds_are_given_as_exactly_as_they_are_known(saves_s: tuple[float, float] | None, said: str) -> None:
    assert saved_words(finding(saves_s=saves_s)) == said


@pytest.mark.parametrize(
    ("saves_s", "said"),
    [
        ((12.6, 16.4), "saves 13 to 16 s (32 to 41 %) of this run"),
        ((16.0, 16.2), "saves about 16 s (40 %) of this run"),
        ((50.0, 60.0), "saves 50 to 60 s (100 %) of this run"),
    ],
)
def test_seconds_are_shares_of_the_run_too(saves_s: tuple[float, float], said: str) -> None:
    """A cost of 20 seconds that is half of the run says how long the run is."""
    assert saved_words(finding(saves_s=saves_s, costs_s=20.0, share_of_run=0.5)) == said


def test_no_seconds_are_promised_if_nobody_can_tell_what_goes() -> None:
    assert saved_words(finding(saves_s=(0.0, 3.2), gain=UpTo(9.0))) == ""
