"""How far samples leave open what a figure is."""

from __future__ import annotations

import pytest
from recorded_runs import NAMES, study_recorded

from tfperfkit.ledger.uncertainty import count_effective, estimate_range
from tfperfkit.report import numbers


def test_samples_that_stand_for_different_times_tell_less() -> None:
    assert count_effective([2.0] * 50) == 50
    assert count_effective([1.0] * 50 + [50.0]) == pytest.approx(4, abs=0.5)
    assert count_effective([]) == 0


def test_more_samples_narrow_the_range_of_a_part() -> None:
    few, many = estimate_range(3.0, 10.0, 20), estimate_range(3.0, 10.0, 2000)
    assert few is not None and many is not None
    assert few[0] < many[0] < 3.0 < many[1] < few[1]
    assert estimate_range(3.0, 10.0, 0) is None
    assert numbers.is_wide(3.0, few) and not numbers.is_wide(3.0, many) and not numbers.is_wide(3.0, None)


@pytest.mark.parametrize("name", NAMES)
def test_each_figure_of_a_recorded_run_is_in_its_range(name: str) -> None:
    report, _ = study_recorded(name)
    for call in report.calls:
        assert call.seconds_range is not None
        assert call.seconds_range[0] <= call.seconds <= call.seconds_range[1] <= report.run.wall_s * 1.01
    for finding in report.findings:
        if finding.costs_s is not None:
            assert finding.costs_range_s is not None
            assert finding.costs_range_s[0] <= finding.costs_s <= finding.costs_range_s[1]
