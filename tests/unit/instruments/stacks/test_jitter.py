"""The pauses between samples differ, and are right in the mean."""

from __future__ import annotations

import statistics

import pytest

from tfperfkit.instruments.stacks.sampler import Jitter


def test_pauses_differ_and_are_right_in_the_mean() -> None:
    jitter = Jitter()
    factors = [jitter.factor() for _ in range(1000)]
    assert min(factors) >= 0.5 and max(factors) < 1.5
    assert statistics.mean(factors) == pytest.approx(1.0, abs=0.002)
    tenths = [sum(low / 10 <= factor - 0.5 < (low + 1) / 10 for factor in factors) for low in range(10)]
    assert all(90 <= count <= 110 for count in tenths)


def test_work_of_the_samplers_own_period_is_met_everywhere() -> None:
    jitter, at, met = Jitter(), 0.0, set()
    for _ in range(200):
        at += 10 * jitter.factor()
        met.add(int(at % 10))
    assert met == set(range(10))
