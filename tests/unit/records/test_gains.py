"""A predicted gain is one value; a report, and rules for version 1 of the contract, state it by fields."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.gain import AtLeast, Gain, Range, Unknown, UpTo, at_least, between, from_shares, up_to
from tfperfkit.model import Finding, Measurement, OnceFixed
from tfperfkit.records import stated_gains
from tfperfkit.records.gains import finite

FACTORS = st.floats(1.0, 100.0)
GAINS = (
    st.builds(Range, FACTORS, FACTORS, FACTORS)
    | st.builds(AtLeast, FACTORS)
    | st.builds(UpTo, FACTORS)
    | st.builds(Unknown)
)


def finding(**fields: Any) -> Finding:
    known: dict[str, Any] = {"code": "X001", "family": "step", "title": "t", "severity": "low", "share_of_step": 0.5}
    return Finding(**known, where=(), evidence=(Measurement("share", 0.5, "share"),), advice="a", **fields)


def builtins(item: Finding) -> dict[str, Any]:
    made: dict[str, Any] = stated_gains.state(msgspec.to_builtins(item))
    return made


@pytest.mark.parametrize(
    ("gain", "low", "likely", "high", "saved", "surely"),
    [
        (from_shares(0.75, 0.0), 1.0, 1.6, 4.0, 0.375, 0.0),
        (at_least(0.5), 2.0, None, None, 0.5, 0.5),
        (up_to(0.5), None, None, 2.0, 0.0, 0.0),
        (Unknown("nobody measured it"), None, None, None, 0.0, 0.0),
    ],
)
def test_every_gain_answers_the_same_questions(
    gain: Gain, low: float | None, likely: float | None, high: float | None, saved: float, surely: float
) -> None:
    assert (gain.low, gain.likely, gain.high) == (low, likely, high)
    assert (gain.saved, gain.surely) == (saved, surely)
    assert gain.bounds == ((low, high) if low is not None and high is not None else None)


@given(GAINS)
def test_a_report_states_a_gain_and_is_read_back(gain: Gain) -> None:
    made = builtins(finding(gain=gain))
    assert "gain" not in made and made.keys() >= set(stated_gains.FIELDS)
    read = msgspec.convert(stated_gains.read(made), Finding).gain
    assert read == (
        Range(gain.likely, gain.likely, gain.likely) if isinstance(gain, Range) and gain.low == gain.high else gain
    )


@pytest.mark.parametrize(
    ("gain", "fields"),
    [
        (Range(2.0, 3.0, 4.0), {"predicted_speedup": 3.0, "predicted_range": (2.0, 4.0)}),
        (Range(2.0, 2.0, 2.0), {"predicted_speedup": 2.0}),
        (AtLeast(2.0), {"at_least": 2.0, "open_ended": True}),
        (UpTo(2.0), {"ceiling": 2.0}),
        (Unknown(), {}),
    ],
)
def test_a_rule_for_version_1_states_the_same_gain_by_its_fields(gain: Gain, fields: dict[str, Any]) -> None:
    nothing = {"predicted_speedup": None, "predicted_range": None, "ceiling": None, "at_least": None}
    assert finding(**{"predicted_speedup": None, **fields}) == finding(gain=gain)
    made = builtins(finding(gain=gain))
    assert {name: made[name] for name in stated_gains.FIELDS} == {**nothing, "open_ended": False, **fields}


@pytest.mark.parametrize("gain", [between(2.0, 4.0), AtLeast(2.0)])
def test_a_gain_once_others_are_fixed_is_stated_too(gain: Range | AtLeast) -> None:
    item = finding(once=OnceFixed(codes=("X002",), gain=gain))
    made = builtins(item)
    assert made["once"] == {
        "codes": ("X002",), "at_least": 2.0, "speedup": gain.likely, "range": gain.bounds,
    }  # fmt: skip
    assert msgspec.convert(stated_gains.read(made), Finding) == item


def test_of_numbers_that_are_null_nothing_is_known() -> None:
    made = {**builtins(finding()), "predicted_speedup": None, "predicted_range": [1.0, None], "at_least": None}
    assert msgspec.convert(stated_gains.read(made), Finding).gain == Unknown()
    with pytest.raises(msgspec.ValidationError):
        stated_gains.read({**builtins(finding()), "predicted_speedup": "fast"})


@given(st.floats(), st.floats(), st.floats())
def test_what_is_printed_is_finite(low: float, likely: float, high: float) -> None:
    for gain in (Range(low, likely, high), AtLeast(low), UpTo(high)):
        told = finite(gain)
        assert all(end is None or math.isfinite(end) for end in (told.low, told.likely, told.bounds and told.bounds[1]))
