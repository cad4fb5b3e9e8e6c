"""Seconds of the run that go beyond the share that a gain is of."""

from __future__ import annotations

import pytest
from finding_builder import finding

from tfperfkit.gain import Range
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.pricing.run_time import RunTime, pay_once, price_for_run
from tfperfkit.pricing.spread import widen_finding
from tfperfkit.remedy import Compile


def test_what_the_change_takes_once_is_subtracted_from_its_seconds() -> None:
    """Compile a step that half of 20 s goes into: trace it for 1 to 3 s. A longer training gains the same factor."""
    paid = pay_once(Bounds(1000.0, 3000.0), "tracing the compiled step")
    item = finding("EAG001", 0.5, remedy=Compile("step"), gain=Range(2.0, 2.0, 2.0), elsewhere=(paid,))
    told = price_for_run(item, RunTime(20.0, 40.0))
    assert told.saves_s == pytest.approx((7.0, 9.0))
    assert told.gain == item.gain
    assert told.detail.endswith("after the change: 1.0 to 3.0 s of tracing the compiled step.")
    assert widen_finding(item).elsewhere == (paid,), "past outcomes are of saved time"


def test_no_change_saves_less_than_nothing() -> None:
    paid = pay_once(Bounds(5000.0, 9000.0), "tracing the compiled step")
    item = finding("EAG001", 0.5, remedy=Compile("step"), gain=Range(1.5, 2.0, 2.5), elsewhere=(paid,))
    assert price_for_run(item, RunTime(12.0, 40.0)).saves_s == pytest.approx((0.0, 2.2))
