"""The saving of a remedy in a run, in words."""

from __future__ import annotations

import io
import math

import pytest
from test_report_forms import finding, report

from tfperfkit.gain import Range, UpTo
from tfperfkit.model import Elsewhere, Finding
from tfperfkit.report.console import render
from tfperfkit.report.saved import explain_excess, saved_words


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
    """Tell the length of the run from a cost of 20 seconds that is half of the run."""
    assert saved_words(finding(saves_s=saves_s, costs_s=20.0, share_of_run=0.5)) == said


def test_no_seconds_are_promised_if_nobody_can_tell_what_goes() -> None:
    assert saved_words(finding(saves_s=(0.0, 3.2), gain=UpTo(9.0))) == ""


def shown(*findings: Finding) -> str:
    file = io.StringIO()
    render(report(*findings), file=file, width=200, color=False, full=True)
    return file.getvalue()


def test_of_a_loop_that_nearly_goes_no_factor_is_said() -> None:
    """The seconds say it; 25 or 50 times faster makes no difference of the run."""
    loop = finding(gain=Range(20.0, 40.0, 60.0), work="a.py:3", work_kind="loop", saves_s=(9.5, 9.8))
    console = shown(loop)
    assert "most of the loop goes" in console and "40x" not in console
    assert "step 40x faster (20x to 60x)" in shown(finding(gain=Range(20.0, 40.0, 60.0)))


def test_findings_that_may_save_as_much_say_so() -> None:
    first, second = finding(saves_s=(2.0, 4.0)), finding(saves_s=(1.9, 4.0), ties_with=(1,))
    assert shown(first, second).count("may save as much as fix 1") == 2, "in the finding and in the verdict"


def test_a_saving_above_the_cost_is_explained() -> None:
    assert explain_excess(finding(saves_s=(4.0, 8.2), costs_s=8.0)) == "", "two digits are the same"
    told = "savings can be larger: other work often gets faster too"
    assert explain_excess(finding(saves_s=(4.7, 9.9), costs_s=8.0)) == told
    more = Elsewhere(seconds=(1.0, 2.0), where="validation, which waits for the same map")
    told = explain_excess(finding(saves_s=(4.7, 9.9), costs_s=8.0, elsewhere=(more,)))
    assert told == "also saves time in validation"
    wait = Elsewhere(seconds=(0.0, 3.0), where="the wait until iterators are destroyed")
    told = explain_excess(finding(saves_s=(4.7, 9.9), costs_s=8.0, elsewhere=(more, wait)))
    assert told == "also saves time in the wait until iterators are destroyed", "the largest part"
    assert explain_excess(finding(saves_s=None, costs_s=8.0)) == ""
