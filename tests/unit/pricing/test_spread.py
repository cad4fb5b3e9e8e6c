"""Ranges of saved seconds are as wide as past predictions ask for."""

from __future__ import annotations

import math

import pytest
from finding_builder import finding
from hypothesis import assume, given
from hypothesis import strategies as st

from tfperfkit import remedy
from tfperfkit.gain import AtLeast, Gain, Range, Unknown, UpTo, between, saving, speedup
from tfperfkit.model import Elsewhere
from tfperfkit.pricing.outcomes import OUTCOMES, Outcome
from tfperfkit.pricing.run_time import RunTime, price_for_run
from tfperfkit.pricing.spread import (
    ASKED,
    Spread,
    find_conformal_quantile,
    find_quiet_share,
    find_spread,
    widen_finding,
    widen_gain,
)
from tfperfkit.remedy import ChangeStage, Hoist, KeepTrace

SECONDS = st.floats(0.1, 100.0)
#: Shares of the time that a remedy saves at least, most likely and at most.
SAVED = st.lists(st.floats(0.0, 0.99), min_size=3, max_size=3).map(sorted)
SPREADS = st.builds(Spread, st.floats(0.1, 1.0), st.floats(1.0, 10.0))
FAMILIES = st.sampled_from(["step", "graph", "input"])
KINDS = st.sampled_from([Hoist("value"), KeepTrace("number"), ChangeStage("cache")])
ROWS = st.lists(
    st.builds(
        lambda kind, low, more, saved, quiet: Outcome("a", kind, low, low + more, saved, quiet),
        st.sampled_from(["Hoist", "KeepTrace"]),
        SECONDS,
        SECONDS,
        SECONDS,
        st.booleans(),
    ),
    max_size=20,
)


@given(ROWS)
def test_a_range_never_gets_narrower(rows: list[Outcome]) -> None:
    spread = find_spread(Hoist, rows)
    assert 0 < spread.low <= 1 <= spread.high


def test_outcomes_of_the_same_kind_count_most() -> None:
    """Four predictions of one kind were right, and four of another one half of what was measured."""
    rows = [Outcome("a", "Hoist", 1.0, 2.0, 1.5, True)] * 4 + [Outcome("b", "KeepTrace", 1.0, 2.0, 4.0, True)] * 4
    assert find_spread(KeepTrace, rows).high == 2.0
    assert find_spread(Hoist, rows[:4]) == (1.0, 1.0)
    assert find_spread(Hoist, rows).high <= find_spread(KeepTrace, rows).high


def test_outcomes_of_another_kind_count_less() -> None:
    """Three of 33 predictions were wrong, all of another kind: too little weight to widen a range."""
    own = [Outcome("a", "Hoist", 1.0, 2.0, 1.5, True)] * 30
    other = [Outcome("b", "KeepTrace", 1.0, 2.0, 4.0, True)] * 3
    assert find_spread(Hoist, own + other).high == 1.0
    assert find_spread(ChangeStage, own + other).high == 2.0


@pytest.mark.parametrize("number", [1, 5, 8, 9, 10, 19, 38])
def test_the_next_outcome_counts_among_the_known_ones(number: int) -> None:
    """The error of rank ``ceil((n + 1) * 0.9)``; the largest if there are too few."""
    rank = min(math.ceil((number + 1) * 0.9 - 1e-9), number)
    assert find_conformal_quantile(range(1, number + 1), [1.0] * number, 0.9) == rank


@given(st.lists(st.floats(0.0, 10.0), min_size=10, max_size=40))
def test_each_of_equal_outcomes_is_held_by_the_others_as_often_as_asked(errors: list[float]) -> None:
    others = [errors[:index] + errors[index + 1 :] for index in range(len(errors))]
    held = sum(
        error <= find_conformal_quantile(rest, [1.0] * len(rest), ASKED.value)
        for error, rest in zip(errors, others, strict=True)
    )
    assert held >= ASKED.value * len(errors) - 1e-9


def test_both_ends_of_the_saved_share_are_widened_and_seconds_elsewhere_too() -> None:
    more = Elsewhere(seconds=(1.0, 2.0), where="validation")
    item = finding("X001", 0.5, remedy=ChangeStage("cache"), gain=Range(1.25, 1.3, 1.5), elsewhere=(more,))
    told, spread = widen_finding(item), find_spread(ChangeStage)
    assert spread.low < 1 < spread.high
    assert told.gain.bounds == pytest.approx((1 / (1 - 0.2 * spread.low), 1 / (1 - spread.high / 3)))
    assert told.gain.likely == 1.3
    assert told.elsewhere[0].seconds == pytest.approx((spread.low, 2 * spread.high))


def test_the_rest_of_the_time_gets_no_faster_than_past_outcomes_say() -> None:
    """Leave a tenth of the time, and at best two thirds of that tenth: never nothing."""
    assert widen_gain(Range(5.0, 8.0, 10.0), Spread(1.0, 1.5)).high == pytest.approx(15.0)


@given(SAVED, SPREADS)
def test_the_likely_factor_lies_within_a_range_that_is_not_narrower(saved: list[float], spread: Spread) -> None:
    gain = Range(*map(speedup, saved))
    told = widen_gain(gain, spread)
    assert isinstance(told, Range)
    assert 1.0 <= told.low <= gain.low and gain.high <= told.high
    assume(saving(told.high) - saving(told.low) > 1e-6)
    if gain.likely > 1:
        assert told.low < told.likely < told.high
    else:
        assert told.likely == 1.0, "most likely nothing is saved"


@pytest.mark.parametrize("gain", [Unknown(), UpTo(3.0), Range(1.0, 1.0, 1.0), Range(1.0, math.inf, math.inf)])
def test_a_gain_without_a_known_saving_stays(gain: Gain) -> None:
    assert widen_gain(gain, Spread(0.5, 2.0)) == gain


def test_of_a_gain_known_from_below_the_lower_end_falls() -> None:
    assert widen_gain(AtLeast(2.0), Spread(0.5, 2.0)) == AtLeast(1 / 0.75)


@given(SAVED, KINDS, SECONDS, SECONDS, SECONDS, SECONDS, st.floats(0.3, 1.0), FAMILIES)
def test_factor_and_seconds_of_a_finding_are_one_distribution(
    saved: list[float],
    kind: remedy.Remedy,
    steps_s: float,
    first_s: float,
    waited_s: float,
    more_s: float,
    quiet: float,
    family: str,
) -> None:
    """The seconds are the saved share of the steps' time, and those that the finding names elsewhere."""
    item = finding("X001", 0.5, family=family, remedy=kind, gain=Range(*map(speedup, saved)))
    more = Elsewhere(seconds=(more_s / 2, more_s), where="validation")
    told = price_for_run(widen_finding(item), RunTime(steps_s + first_s, 1e4, first_s, waited_s, quiet=quiet), [more])
    if told.saves_s is None:
        assert told.gain.high == 1.0
        return
    least, most = (end - sum(other.seconds[at] for other in told.elsewhere) for at, end in enumerate(told.saves_s))
    assert most == pytest.approx(saving(told.gain.high) * steps_s, abs=1e-6)
    assert least == pytest.approx(saving(told.gain.low) * steps_s * quiet, abs=1e-6)
    assert most <= steps_s, "a step saves no more than it takes"
    assert told.saves_share == pytest.approx([end / 1e4 for end in told.saves_s])


def test_without_outcomes_nothing_is_widened() -> None:
    assert find_spread(Hoist, []) == (1.0, 1.0)


def test_a_busy_machine_lowers_the_lower_end() -> None:
    """Save 10 s at half a core: 5 s are left, since a quiet machine takes less of the time from the start. The factor
    stays, since the rest of the step gets faster too."""
    item = widen_finding(finding("X001", 0.5, remedy=ChangeStage("cache"), gain=between(1.25, 2.0)))
    quiet, busy = (price_for_run(item, RunTime(50.0, 100.0, quiet=find_quiet_share(waited))) for waited in (0.01, 0.5))
    assert quiet == price_for_run(item, RunTime(50.0, 100.0, quiet=find_quiet_share(None)))
    assert quiet.saves_s is not None and quiet.gain == busy.gain
    assert busy.saves_s == pytest.approx((quiet.saves_s[0] / 2, quiet.saves_s[1]))


def test_no_more_than_the_run_is_saved() -> None:
    item = finding("X001", 0.5, remedy=ChangeStage("cache"), gain=between(5.0, 100.0))
    told = price_for_run(widen_finding(item), RunTime(10.0, 10.0), [Elsewhere(seconds=(8.0, 9.9), where="validation")])
    assert told.saves_s is not None and told.saves_s[1] <= 10.0


def test_a_finding_without_a_gain_stays_as_it_is() -> None:
    item = finding("X001", 0.5, gain=Unknown())
    assert widen_finding(item) == item


def test_the_table_names_kinds_of_remedies_once_for_each_script() -> None:
    assert len({row.script for row in OUTCOMES}) == len(OUTCOMES) > 20
    assert all(hasattr(remedy, row.kind) and row.low_s <= row.high_s and row.saved_s > 0 for row in OUTCOMES)


def test_widened_ranges_hold_what_was_measured_of_scripts_left_out() -> None:
    """The asked-for coverage is 80 % in quiet runs; at a load that changes between two runs it is less."""
    held = {True: 0, False: 0}
    for row in OUTCOMES:
        spread = find_spread(getattr(remedy, row.kind), [other for other in OUTCOMES if other != row])
        held[row.quiet] += row.low_s * spread.low <= row.saved_s <= row.high_s * spread.high
    quiet = sum(row.quiet for row in OUTCOMES)
    assert held[True] >= 0.8 * quiet
    assert sum(held.values()) >= 0.7 * len(OUTCOMES)
