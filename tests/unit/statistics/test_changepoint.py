"""The sequential test keeps to its rate of false alarms, whatever the distribution of the values, and finds changes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tfperfkit.statistics.changepoint import MAX_PAST, GrowthTest

LIMIT = 100


def _values(seed: int, draw: Callable[[np.random.Generator], float]) -> Iterator[float]:
    random = np.random.default_rng(seed)
    while True:
        yield float(draw(random))


@pytest.mark.parametrize(
    "draw",
    [
        lambda random: random.normal(),
        lambda random: random.standard_cauchy(),
        lambda random: float(random.integers(0, 3)),  # nearly all are ties
        lambda random: random.lognormal(sigma=3),
    ],
    ids=["normal", "cauchy", "three values", "lognormal"],
)
def test_false_alarms_are_as_rare_as_stated(draw: Callable[[np.random.Generator], float]) -> None:
    lengths = []
    for seed in range(30):
        values = _values(seed, draw)
        test = GrowthTest(list(itertools.islice(values, 120)), LIMIT)
        lengths.append(next((n for n in range(1, 20 * LIMIT) if test.add(next(values))), 20 * LIMIT))
    assert np.mean(lengths) >= LIMIT


def test_a_series_that_never_changes_gives_none() -> None:
    test = GrowthTest([5.0] * 120, LIMIT)
    assert not any(test.add(5.0) for _ in range(1000))


def test_what_becomes_larger_is_found_at_once_and_what_becomes_smaller_never() -> None:
    random = np.random.default_rng(1)
    past = random.normal(10, 1, 120)
    larger = GrowthTest(list(past), 17_280)
    assert next(n for n in range(1, 100) if larger.add(float(random.normal(20, 1)))) <= 10
    smaller = GrowthTest(list(past), 17_280)
    assert not any(smaller.add(float(random.normal(5, 1))) for _ in range(1000))


def test_the_past_stays_bounded() -> None:
    test = GrowthTest([0.0], 1e9)
    for number in range(3 * MAX_PAST):
        test.add(float(number % 7))
    assert len(test._sorted) == len(test._order) == MAX_PAST
    assert sorted(test._order) == test._sorted
