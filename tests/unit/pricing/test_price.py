"""The saving of a remedy lies between nothing and the part that it changes, and grows with that part."""

from __future__ import annotations

from typing import get_args

import pytest
from finding_builder import finding
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.gain import AtLeast, from_shares
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.overlap import Overlap
from tfperfkit.pricing.remedies import MOST
from tfperfkit.pricing.run_time import RunTime, price_for_run
from tfperfkit.remedy import (
    BatchLoop,
    BatchSize,
    CallDirectly,
    ChangeStage,
    Compile,
    Every,
    Hoist,
    KeepTrace,
    Remedy,
    Remove,
    ReplaceOps,
    Rewrite,
    Setting,
)

REMEDIES = st.sampled_from(
    [
        Remove(), Every("work"), Hoist("value"), BatchLoop(), Compile("step"), CallDirectly("predict"),
        KeepTrace("number"), ChangeStage("cache"), ReplaceOps(), Setting("threads"), BatchSize("training"), Rewrite(),
    ]
)  # fmt: skip
SHARES = st.floats(0.0, 1.0)
RANGES = st.tuples(SHARES, SHARES).map(lambda ends: (min(ends), max(ends)))
PARTS = RANGES.map(lambda ends: Part(*ends))
LEFTS = RANGES.map(lambda ends: Left(*ends))


def test_each_kind_of_remedy_says_what_its_price_assumes() -> None:
    assert all("Its price assumes that" in (kind.__doc__ or "") for kind in get_args(Remedy))


@given(REMEDIES, PARTS, LEFTS)
def test_the_ends_are_in_order_and_no_more_goes_than_the_part(remedy: Remedy, part: Part, left: Left) -> None:
    gain = price(remedy, part, left)
    assert 1.0 <= gain.low <= gain.likely <= gain.high
    assert gain.saved <= max(part.high, 0.0) + 1e-9
    assert 1 - 1 / gain.high <= min(part.high, MOST) + 1e-9


@given(REMEDIES, PARTS, LEFTS, SHARES)
def test_a_larger_part_never_gains_less(remedy: Remedy, part: Part, left: Left, more: float) -> None:
    larger = Part(min(part.low + more, 1.0), min(part.high + more, 1.0))
    less, greater = price(remedy, part, left), price(remedy, larger, left)
    assert less.low <= greater.low + 1e-9 and less.high <= greater.high + 1e-9


@given(REMEDIES, PARTS, LEFTS, SHARES)
def test_what_is_freed_moves_the_upper_end_alone(remedy: Remedy, part: Part, left: Left, freed: float) -> None:
    plain, with_freed = price(remedy, part, left), price(remedy, part, left, freed=freed)
    assert with_freed.low == plain.low and with_freed.high >= plain.high - 1e-9


def test_of_what_is_done_seldom_a_part_is_left() -> None:
    part = Part.exactly(0.5)
    assert price(Remove(), part).bounds == pytest.approx((2.0, 2.0))
    assert price(Every("save"), part, Left(0.0, 0.2)).bounds == pytest.approx((1 / 0.6, 2.0))


def test_input_next_to_a_step_takes_as_long_as_the_slower_of_the_two() -> None:
    """Of 100 ms a step waits 60; a section of 80 ms that runs next to it is the slower one."""
    busy, idle = Overlap(100.0, 40.0, 1), Overlap(100.0, 40.0, 10**6)
    slow, quick = busy.run_next_to(80.0, 80.0, 80.0), idle.run_next_to(30.0, 30.0, 30.0)
    assert slow[:2] == pytest.approx((0.8, 1.0)), "on one core nothing is gained at worst"
    assert quick[:2] == pytest.approx((0.4, (40 + 0.3 * 30) / 100)) and quick.likely is None


def test_the_wait_for_an_input_that_is_quicker_than_the_step_goes_whole() -> None:
    """The median of what is left counts, not the middle between the ends."""
    left = Overlap(100.0, 40.0, 2).run_next_to(0.0, 50.0, 50.0, 5.0)
    assert left.likely == pytest.approx(0.4)
    assert price(ChangeStage("less_python"), left=left).likely == pytest.approx(1 / 0.4)
    halved = Overlap(100.0, 40.0, 2).run_next_to(0.0, 80.0, 80.0, 60.0)
    assert price(ChangeStage("less_python"), left=halved).likely == pytest.approx(1 / 0.6)


@given(REMEDIES, PARTS, LEFTS, SHARES, SHARES)
def test_a_median_lies_between_the_ends(remedy: Remedy, part: Part, left: Left, taken: float, stays: float) -> None:
    gain = price(remedy, part._replace(likely=taken), left._replace(likely=stays))
    assert gain.low <= gain.likely <= gain.high


@given(st.floats(0.1, 1e3), SHARES, RANGES, st.integers(1, 64))
def test_a_faster_section_never_makes_a_step_slower(
    step_ms: float, other: float, section: tuple[float, float], cpus: int
) -> None:
    overlap = Overlap(step_ms, other * step_ms, cpus)
    less, more = (overlap.run_next_to(0.0, step_ms * end, step_ms * end) for end in section)
    assert 0 <= less.low <= less.high <= more.high <= 1


SECONDS = st.floats(0.0, 1e5)


@given(SHARES, RANGES | SHARES, SECONDS, SECONDS, SECONDS, SECONDS, st.sampled_from(["step", "graph", "retrace"]))
def test_no_finding_saves_more_than_the_run(
    share: float,
    goes: tuple[float, float] | float,
    steps_s: float,
    rest_s: float,
    first_s: float,
    waited_s: float,
    family: str,
) -> None:
    wall_s = steps_s + rest_s
    gain = from_shares(*goes) if isinstance(goes, tuple) else AtLeast(1 / (1 - min(goes, 0.99)))
    item = finding("X001", share, family=family, gain=gain)
    told = price_for_run(
        item, RunTime(steps_s, wall_s, min(first_s, steps_s), min(waited_s, rest_s), owned_s=wall_s / 2)
    )
    assert told.costs_s is None or 0 <= told.costs_s <= wall_s
    if told.saves_s is not None:
        low, high = told.saves_s
        assert 0 <= low <= high * (1 + 1e-9) and high <= wall_s


def test_a_gain_known_from_below_ends_at_what_its_call_sites_took() -> None:
    item = finding("X001", 0.5, gain=AtLeast(1.25))
    assert price_for_run(item, RunTime(10.0, 20.0, owned_s=6.0)).saves_s == pytest.approx((2.0, 6.0))
    assert price_for_run(item, RunTime(10.0, 20.0)).saves_s == pytest.approx((2.0, 5.0)), "else at what it costs"
