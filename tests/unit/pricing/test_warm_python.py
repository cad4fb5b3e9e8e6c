"""Python between calls gets faster when it is asked more often."""

from __future__ import annotations

import pytest
from finding_builder import finding
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.gain import from_shares
from tfperfkit.pricing.warm_python import StepTimes, add_warm_python, times_as_long
from tfperfkit.remedy import ChangeStage, Hoist, KeepTrace, Remedy, Remove, ReplaceOps, Setting

MS = st.floats(0.001, 1e3)


def test_a_call_that_nearly_goes_halves_the_rest() -> None:
    """Of 12.6 ms a call takes 11.1, of which all but 1 go; 1.35 ms of Python became 0.75 when that was measured."""
    item = finding("GRF002", remedy=Remove("metrics"), gain=from_shares(10.0 / 12.6, 10.1 / 12.6))
    told = add_warm_python(item, StepTimes(12.6, 11.1, 0.35, 1.0)).gain
    assert told.low == item.gain.low, "at worst the Python takes as long as now"
    assert told.likely is not None and 12.6 / told.likely == pytest.approx(12.6 - 10.05 - 0.57, abs=0.05)
    assert told.high is not None and item.gain.high is not None and told.high > item.gain.high


@pytest.mark.parametrize("remedy", [Hoist("value"), ReplaceOps("array"), Setting("steps_per_execution")])
def test_a_remedy_that_leaves_the_call_as_it_is_gains_no_more(remedy: Remedy) -> None:
    item = finding("X001", remedy=remedy, gain=from_shares(0.2, 0.4))
    assert add_warm_python(item, StepTimes(10.0, 8.0, 1.0)) == item


@pytest.mark.parametrize("remedy", [ChangeStage("less_python"), KeepTrace("number")])
def test_after_a_shorter_wait_the_next_call_finds_warm_caches(remedy: Remedy) -> None:
    """Of 33 ms a step waits 28; the Python that makes its call took 2.7 ms before and 0.8 after."""
    item = finding("INP005", remedy=remedy, gain=from_shares(28 / 33, 28.1 / 33))
    told = add_warm_python(item, StepTimes(33.0, 2.1, 2.7, 20.0)).gain
    assert told.low == item.gain.low and told.likely is not None
    assert 33 / told.likely == pytest.approx(33 - 28.05 - 2.7 * (1 - 1.4 / 2.3), abs=0.2)


@given(MS, MS)
def test_the_longer_away_the_slower(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert 1.0 <= times_as_long(less) <= times_as_long(more) <= 2.4


@given(MS, st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_the_ends_stay_in_order_and_within_the_step(
    step_ms: float, call: float, python: float, one: float, other: float
) -> None:
    item = finding("X001", remedy=ReplaceOps(), gain=from_shares(one * call, other * call))
    gain = add_warm_python(item, StepTimes(step_ms, call * step_ms, python * (1 - call) * step_ms)).gain
    assert gain.bounds is not None and gain.likely is not None
    assert 1.0 <= gain.low <= gain.likely * (1 + 1e-9) <= gain.high * (1 + 1e-9)
    assert 1 - 1 / gain.high <= 1.0
