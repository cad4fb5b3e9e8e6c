"""Findings that might have the other order name each other."""

from __future__ import annotations

import pytest
from finding_builder import finding
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.diagnosis.ties import mark_ties, probability_of_more

ENDS = st.tuples(st.floats(0.0, 1e6), st.floats(0.0, 1e6)).map(lambda ends: (min(ends), max(ends)))


@pytest.mark.parametrize(
    ("one", "other", "probability"),
    [
        ((0, 1), (2, 3), 0.0),
        ((2, 3), (0, 1), 1.0),
        ((0, 2), (0, 2), 0.5),
        ((1, 3), (0, 2), 7 / 8),
        ((1, 1), (0, 4), 0.25),
    ],
)
def test_probability_that_a_figure_of_one_range_is_larger(
    one: tuple[float, float], other: tuple[float, float], probability: float
) -> None:
    assert probability_of_more(one, other) == pytest.approx(probability, abs=1e-6)


@given(ENDS, ENDS)
def test_probabilities_of_both_orders_add_up(one: tuple[float, float], other: tuple[float, float]) -> None:
    assert probability_of_more(one, other) + probability_of_more(other, one) == pytest.approx(1.0, abs=1e-2)


def test_a_finding_names_the_ones_before_it_that_it_may_save_more_than() -> None:
    sure = finding("A", 0.5, saves_s=(20.0, 22.0))
    first, second = finding("B", 0.4, saves_s=(9.0, 15.0)), finding("C", 0.4, saves_s=(8.0, 14.0))
    remark = finding("D", 0.4, saves_s=(8.0, 14.0), severity="info")
    unknown = finding("E", 0.4)
    marked = mark_ties([sure, first, second, remark, unknown])
    assert [item.ties_with for item in marked] == [(), (), (2,), (), ()]
