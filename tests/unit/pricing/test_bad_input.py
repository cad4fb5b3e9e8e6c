"""Runs that say little: two steps, input and compute in turn, a fix that changes the work."""

from __future__ import annotations

import pytest
from finding_builder import finding
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.finding_forecasts import forecast_seconds
from tfperfkit.gain import Range
from tfperfkit.pricing import price
from tfperfkit.pricing.overlap import Overlap
from tfperfkit.pricing.run_time import RunTime, price_for_run
from tfperfkit.pricing.spread import widen_finding
from tfperfkit.remedy import ChangeStage

MS = st.floats(0.1, 1e3)


def test_of_two_steps_that_trace_nothing_is_saved_by_faster_steps() -> None:
    """All 8 s of the steps are tracing, which each function needs once."""
    item = finding("INP006", 0.9, family="input", gain=Range(2.0, 3.0, 4.0))
    told = price_for_run(widen_finding(item), RunTime(8.0, 20.0, first_s=8.0, quiet=0.1))
    assert told.saves_s is None and told.costs_s is None


@given(MS, MS, st.floats(0.0, 1.0), st.floats(0.0, 2.0))
def test_steps_bound_by_input_and_by_compute_in_turn_end_between_the_two(
    waiting_ms: float, computing_ms: float, left: float, more: float
) -> None:
    """Every second step waits, the others find a full buffer. The mean step is known, and no step gets slower."""
    overlap = Overlap(computing_ms + waiting_ms / 2, computing_ms, 2)
    section = left * (computing_ms + waiting_ms)
    stays = overlap.run_next_to(section, section * (1 + more), section, section * (1 + more / 2))
    gain = price(ChangeStage("keep_up"), left=stays)
    assert 1.0 <= gain.low <= gain.likely <= gain.high * (1 + 1e-9)
    assert gain.high <= overlap.step_ms / computing_ms * (1 + 1e-9), "compute stays"


def test_a_fixed_script_that_takes_longer_scores_no_forecast() -> None:
    """Ignore a change that makes the script compute something else: it says nothing about the prediction."""
    item = finding("INP006", 0.9, saves_s=(2.0, 3.0), costs_s=4.0)
    assert forecast_seconds(item, -1.5) is None
    known = forecast_seconds(item, 2.5)
    assert known is not None and known.holds and known.centre == pytest.approx(2.5)
