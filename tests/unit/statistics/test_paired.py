"""Runs in pairs: what slows the machine for both drops out, and few pairs claim little."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfperfkit.statistics.paired import paired_ratio, pairs_needed

times = st.floats(1e-3, 1e6)


def test_what_slows_both_of_a_pair_drops_out() -> None:
    machine = [1.0, 1.5, 0.9, 1.26]
    compared = paired_ratio([40 * m for m in machine], [20 * m for m in machine])
    assert compared.ratio == pytest.approx(0.5)
    assert (compared.verdict, compared.samples) == ("faster", (4, 4))
    assert compared.speedup == pytest.approx(2.0)


def test_the_interval_is_students() -> None:
    """By hand: logs 0.1 and 0.3; mean 0.2, standard error 0.1, t of one degree of freedom 12.706."""
    compared = paired_ratio([1.0, 1.0], [np.exp(0.1), np.exp(0.3)])
    assert compared.low == pytest.approx(np.exp(0.2 - 1.2706), rel=1e-4)
    assert compared.high == pytest.approx(np.exp(0.2 + 1.2706), rel=1e-4)
    assert compared.verdict == "no difference shown"


@pytest.mark.parametrize("pairs", [2, 3, 5, 10])
def test_the_same_thing_is_called_different_five_times_in_a_hundred(pairs: int) -> None:
    random = np.random.default_rng(pairs)
    alarms = 0
    for _ in range(2000):
        machine = np.exp(random.normal(0, 0.2, pairs))
        runs = [machine * np.exp(random.normal(0, 0.02, pairs)) for _ in "AB"]
        alarms += paired_ratio(list(runs[0]), list(runs[1])).verdict != "no difference shown"
    assert (60 if pairs > 2 else 20) <= alarms <= 140  # of two pairs the least spread holds some back


def test_the_smallest_difference_is_found_four_times_in_five() -> None:
    random = np.random.default_rng(9)
    logs = random.normal(0, 0.02, (2000, 6))
    smallest = np.median([paired_ratio([1.0] * 6, list(np.exp(row))).smallest for row in logs])
    found = sum(paired_ratio([1.0] * 6, list(np.exp(row) * (1 + smallest))).verdict == "slower" for row in logs)
    assert 1450 <= found <= 1750


def test_pairs_that_happen_to_agree_are_no_proof() -> None:
    compared = paired_ratio([40.0, 40.0], [40.2, 40.2])
    assert compared.verdict == "no difference shown"
    assert compared.smallest is not None and compared.smallest > 0.01


def test_one_pair_has_a_ratio_and_no_interval() -> None:
    compared = paired_ratio([40.0], [10.0])
    assert (compared.ratio, compared.low, compared.verdict) == (pytest.approx(0.25), None, "no difference shown")
    assert "one pair" in compared.reason


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [float("nan")])])
def test_what_are_no_pairs_of_times_is_an_error(a: list[float], b: list[float]) -> None:
    with pytest.raises(ValueError):
        paired_ratio(a, b)


def test_how_many_pairs_it_takes() -> None:
    a, b = [1.0, 1.0, 1.0], [0.98, 1.0, 1.02]
    few, many = pairs_needed(a, b, 0.10), pairs_needed(a, b, 0.01)
    assert few is not None and many is not None and 3 <= few < many
    assert pairs_needed(a, b, 1e-6) is None
    assert pairs_needed([1.0], [1.0], 0.1) is None


@given(st.lists(st.tuples(times, times), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_the_other_way_round_it_is_the_inverse(pairs: list[tuple[float, float]]) -> None:
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    there, back = paired_ratio(a, b), paired_ratio(b, a)
    assert there.ratio * back.ratio == pytest.approx(1.0)
    if there.low is not None and back.high is not None and there.low > 1e-300 and back.high < 1e300:
        assert there.low * back.high == pytest.approx(1.0, rel=1e-6)
