"""Properties of the gains of every recorded run."""

from __future__ import annotations

import pytest
from recorded_runs import NAMES, study_recorded

from tfperfkit.gain import UpTo


@pytest.mark.parametrize("name", NAMES)
def test_gains_have_both_ends_and_fit_into_the_run(name: str) -> None:
    report, _ = study_recorded(name)
    wall_s, saved_s = report.run.wall_s, 0.0
    for finding in report.findings:
        gain = finding.gain
        assert gain.low is None or gain.high is not None or finding.code == "STP015", finding.code
        assert (finding.saves_s is None) == (finding.saves_share is None)
        if finding.saves_s is None or isinstance(gain, UpTo):
            continue
        low, high = finding.saves_s
        assert 0 <= low <= high <= wall_s
        assert finding.saves_share == pytest.approx((low / wall_s, high / wall_s))
        saved_s += (low + high) / 2 if finding.severity != "info" else 0.0
    assert saved_s <= wall_s, "no moment is saved twice"


@pytest.mark.parametrize("name", NAMES)
def test_ties_name_findings_that_stand_before(name: str) -> None:
    report, _ = study_recorded(name)
    for number, finding in enumerate(report.findings, 1):
        assert all(1 <= other < number for other in finding.ties_with)
