"""Two series of step times: no false alarms on the same thing, and a real difference is found."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import step_times

from tfperfkit.statistics.autocorrelation import autocorrelation_time
from tfperfkit.statistics.series import compare_series, level


@pytest.mark.parametrize("steps", [100, 200, 600])
@pytest.mark.parametrize("resemblance", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("drift", [0.0, 0.02])
def test_two_runs_of_the_same_thing_show_no_difference(steps: int, resemblance: float, drift: float) -> None:
    random = np.random.default_rng([steps, int(10 * resemblance), int(100 * drift)])
    silent = sum(
        compare_series(
            *(step_times(random, steps, resemblance=resemblance, drift=drift) for _ in "AB"),
        ).verdict
        == "no difference shown"
        for _ in range(200)
    )
    assert silent >= 95


def test_five_per_cent_in_200_steps_of_40_ms_is_found_nine_times_in_ten() -> None:
    random = np.random.default_rng(5)
    found = 0
    for _ in range(200):
        before, after = step_times(random), step_times(random, mean_ms=42.0)
        found += compare_series(before, after).verdict == "slower"
        # and the other way round
        assert compare_series(after, before).ratio == pytest.approx(1 / compare_series(before, after).ratio)
    assert found >= 180


def test_the_smallest_difference_that_could_be_seen_is_seen_four_times_in_five() -> None:
    random = np.random.default_rng(8)
    found = 0
    for _ in range(200):
        before, after = (step_times(random, drift=0.0, outliers=0.0) for _ in "AB")
        smallest = compare_series(before, after, run_spread=0.0).smallest
        assert smallest is not None
        found += compare_series(before, [t * (1 + smallest) for t in after], run_spread=0.0).verdict == "slower"
    assert 130 <= found <= 185  # 80 % of 200, and the chance of such a count


def test_outliers_in_one_run_make_no_difference_and_are_said() -> None:
    random = np.random.default_rng(3)
    before, after = step_times(random, outliers=0.0), step_times(random, outliers=0.0)
    after[50] = after[120] = 4000.0
    compared = compare_series(before, after)
    assert compared.verdict == "no difference shown"
    assert "B: 2 of 200 steps took far longer" in " ".join(compared.notes)
    assert compare_series(before, after, keep_outliers=True).ratio > 1.5


def test_slow_steps_that_come_again_and_again_are_no_outliers() -> None:
    random = np.random.default_rng(4)
    before = step_times(random, 400, outliers=0.0, resemblance=0.0)
    after = [time * 3 if index % 10 == 0 else time for index, time in enumerate(before)]
    compared = compare_series(before, after)
    assert compared.verdict == "slower"
    assert compared.ratio == pytest.approx(1.2, abs=0.02)


def test_a_drift_is_said_and_widens_the_interval() -> None:
    random = np.random.default_rng(6)
    before = step_times(random, drift=0.0)
    calm, drifting = step_times(random, drift=0.0), step_times(random, drift=0.0)
    drifting = [time * (1 + 0.1 * index / 200) for index, time in enumerate(drifting)]
    compared = compare_series(before, drifting)
    assert compared.verdict == "no difference shown"
    assert any("slow down by" in note for note in compared.notes)
    smallest = compare_series(before, calm).smallest
    assert compared.smallest is not None and smallest is not None and compared.smallest > 1.5 * smallest


def test_a_short_series_gets_a_ratio_and_a_reason() -> None:
    compared = compare_series([40.0] * 29, [20.0] * 100)
    assert (compared.ratio, compared.low, compared.verdict) == (0.5, None, "no difference shown")
    assert "29 and 100" in compared.reason


def test_a_series_that_is_one_long_wave_gets_no_interval() -> None:
    wave = [40 + 10 * np.cos(index / 32) for index in range(200)]
    assert "resemble" in compare_series(wave, wave).reason


def test_equal_steps_without_any_noise_have_the_spread_of_runs() -> None:
    compared = compare_series([40.0] * 100, [40.0] * 100)
    assert compared.ratio == 1.0
    assert compared.smallest is not None and 0.03 < compared.smallest < 0.05
    assert compare_series([40.0] * 100, [42.0] * 100).verdict == "slower"


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="without a step"):
        compare_series([], [1.0])
    assert compare_series([float("nan"), 0.0, *[1.0] * 40], [1.0] * 40).ratio == 1.0


@given(
    st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=120),
    st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=120),
    st.floats(1e-3, 1e3),
)
@settings(max_examples=100, deadline=None)
def test_whatever_the_times_the_answer_is_in_order(a: list[float], b: list[float], unit: float) -> None:
    compared = compare_series(a, b)
    assert compared.ratio > 0
    if compared.low is not None and compared.high is not None and compared.smallest is not None:
        assert compared.low <= compared.ratio <= compared.high
        assert compared.smallest > 0
    else:
        assert compared.reason
    assert compare_series([t * unit for t in a], [t * unit for t in b]).ratio == pytest.approx(compared.ratio, rel=0.2)


@pytest.mark.parametrize("resemblance", [0.0, 0.5, 0.8])
def test_the_autocorrelation_time_of_a_known_process(resemblance: float) -> None:
    random = np.random.default_rng(1)
    times = step_times(random, 20_000, resemblance=resemblance, drift=0.0, outliers=0.0)
    assert autocorrelation_time(np.array(times)) == pytest.approx((1 + resemblance) / (1 - resemblance), rel=0.15)


def test_the_level_of_a_series_is_the_mean_of_its_ordinary_steps() -> None:
    assert level([10.0, 12.0, 11.0, 10.5] * 20 + [900.0]).mean < 12


def test_nothing_heavy_is_imported_before_something_is_compared() -> None:
    code = (
        "import sys, tfperfkit.statistics.series, tfperfkit.statistics.paired;"
        "sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=200).returncode == 0
