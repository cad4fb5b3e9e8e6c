"""The verdict of ``benchmarks.gains`` on a prediction, and its page."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from benchmarks.gains import of_script
from benchmarks.gains_page import Score, page, picture

REPORT: dict[str, Any] = {
    "run": {"wall_s": 20.0},
    "run_account": {"total_s": 20.0, "parts_s": {"imports": 8.0, "tfperf": 2.0, "training": 10.0}},
}


def finding(**fields: Any) -> dict[str, Any]:
    return {"share_of_step": 0.5, "share_of_run": 0.2, "basis": "step", **fields}


def test_a_gain_of_the_steps_is_less_of_the_script_without_its_imports() -> None:
    # Half of the steps is a fifth of 20 s, so the steps take 8 of the 10 s after imports and without our own time.
    assert of_script(4.0, finding(), REPORT) == pytest.approx(10 / (2 + 8 / 4))
    assert of_script(4.0, finding(basis="run"), REPORT) == 4.0


def test_seconds_that_a_finding_saves_tell_more_than_its_share() -> None:
    """They count what goes elsewhere, and the wait for iterators; what the process takes to end is no gain."""
    report = {
        **REPORT,
        "run_account": {"total_s": 22.0, "parts_s": {**REPORT["run_account"]["parts_s"], "ending": 2.0}},
    }
    saves = finding(predicted_range=(2.0, 4.0), saves_s=(5.0, 8.0))
    assert of_script(2.0, saves, report) == pytest.approx(10 / 5)
    assert of_script(4.0, saves, report) == pytest.approx(10 / 2)
    assert of_script(1 / (1 - 0.625), saves, report) == pytest.approx(10 / 3.5)
    assert of_script(3.0, finding(at_least=3.0, saves_s=(6.0, None)), report) == pytest.approx(10 / 4)


def test_a_report_without_an_account_gives_no_figure() -> None:
    with pytest.raises(KeyError):
        of_script(4.0, finding(), {"run": {"wall_s": 20.0}, "run_account": {"parts": []}})


def test_the_page_has_a_row_for_each_and_says_what_is_not_priced() -> None:
    priced = Score(
        name="a",
        batch="first",
        measured=4.0,
        spread=(4.0, 4.0),
        code="RET001",
        predicted=2.0,
        bounds=(1.0, 4.0),
        of_script=2.0,
        of_script_bounds=(1.0, 4.0),
    )
    lower = Score(name="b", batch="first", measured=4.0, spread=(3.0, 5.0), code="RET014", at_least=2.0)
    text = page([priced, lower], 9)
    assert "2 of 9 with a fault" in text
    assert "| RET001 | 1 | 1 | 0 of 1 | 1 | 0 | 0.50 | 4.0 |" in text
    assert "| b | first | RET014 | at least 2.0 | – | 4.0 (3.0 to 5.0) | – | – |" in text
    drawn = ET.fromstring(picture([priced, lower]))
    circles = drawn.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == 2  # the point, and its family's in the key


def test_a_prediction_of_steps_is_judged_by_the_steps() -> None:
    steps = Score(
        name="a", batch="first", measured=2.0, spread=(2.0, 2.0), code="EAG001", predicted=10.0, bounds=(8.0, 12.0),
        of_script=3.0, of_script_bounds=(2.5, 3.5), of_steps=9.0,
    )  # fmt: skip
    assert steps.judged and steps.judged.held and steps.judged.ratio == pytest.approx(10 / 9)
    lower = Score(
        name="b", batch="first", measured=2.0, spread=(2.0, 2.0), code="EAG004", at_least=4.0, of_script_at_least=2.5
    )
    assert lower.judged and not lower.judged.held and lower.judged.ratio is None
