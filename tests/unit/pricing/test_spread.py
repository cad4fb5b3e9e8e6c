"""Ranges of saved seconds are as wide as past predictions ask for."""

from __future__ import annotations

import pytest
from finding_builder import finding
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit import remedy
from tfperfkit.pricing.outcomes import OUTCOMES, Outcome
from tfperfkit.pricing.spread import find_spread, widen
from tfperfkit.remedy import ChangeStage, Hoist, KeepTrace

SECONDS = st.floats(0.1, 100.0)
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
    """Three of ten predictions were wrong, all of another kind: too little weight to widen a range."""
    own = [Outcome("a", "Hoist", 1.0, 2.0, 1.5, True)] * 7
    other = [Outcome("b", "KeepTrace", 1.0, 2.0, 4.0, True)] * 3
    assert find_spread(Hoist, own + other).high == 1.0
    assert find_spread(ChangeStage, own + other).high == 2.0


def test_both_ends_are_widened() -> None:
    item = finding("X001", 0.5, remedy=ChangeStage("cache"), saves_s=(10.0, 12.0))
    spread = find_spread(ChangeStage)
    assert widen(item, 1000.0).saves_s == pytest.approx((10.0 * spread.low, 12.0 * spread.high))


def test_without_outcomes_nothing_is_widened() -> None:
    assert find_spread(Hoist, []) == (1.0, 1.0)


def test_a_busy_machine_lowers_the_lower_end() -> None:
    """A quiet machine takes less of the time from the start: of 10 s saved at half a core 5 s are left."""
    item = finding("X001", 0.5, remedy=ChangeStage("cache"), saves_s=(10.0, 12.0))
    quiet, busy = widen(item, 100.0, 0.01), widen(item, 100.0, 0.5)
    assert quiet == widen(item, 100.0) and quiet.saves_s is not None and busy.saves_s is not None
    assert busy.saves_s == pytest.approx((quiet.saves_s[0] / 2, quiet.saves_s[1]))


def test_no_more_than_the_run_is_saved() -> None:
    told = widen(finding("X001", 0.5, remedy=ChangeStage("cache"), saves_s=(8.0, 9.9)), 10.0)
    assert told.saves_s is not None and told.saves_s[1] <= 10.0


def test_a_finding_without_seconds_stays_as_it_is() -> None:
    item = finding("X001", 0.5)
    assert widen(item, 10.0, 0.5) == item


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
