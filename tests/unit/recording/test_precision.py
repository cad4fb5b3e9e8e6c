"""When samples must fall where the time goes: see ``instruments.stacks.switch_interval``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.recording.precision import Precision


@pytest.fixture
def events() -> Iterator[list[str]]:
    before = sys.getswitchinterval()
    yield []
    sys.setswitchinterval(before)


def made(events: list[str]) -> Precision:
    def event(kind: str, **fields: Any) -> None:
        events.append(kind)

    return Precision(event, lambda row: None, together=False)


def test_a_script_without_steps_is_sampled_precisely_while_samples_are_fast(events: list[str]) -> None:
    usual = sys.getswitchinterval()
    precision, now = made(events), now_ns()
    precision.without_steps(now, now - NS_PER_S)
    assert sys.getswitchinterval() < usual and events == ["precise"]
    precision.without_steps(now_ns(), now - NS_PER_S)
    assert events == ["precise"]  # it goes on
    precision.expire(now_ns() + NS_PER_S)
    assert events == ["precise"]
    precision.expire(now_ns() + 3 * NS_PER_S)  # nothing of TensorFlow ran meanwhile
    assert sys.getswitchinterval() == usual and events == ["precise", "precise_end"]


def test_later_its_few_samples_cost_it_nothing(events: list[str]) -> None:
    precision, now = made(events), now_ns()
    precision.without_steps(now, now - 60 * NS_PER_S)
    assert not events


def test_a_single_sample_is_precise_and_leaves_nothing_behind(events: list[str]) -> None:
    usual = sys.getswitchinterval()
    precision = made(events)
    precision.set_pause(now_ns(), 0.2)
    leads = []
    for _ in range(50):
        lead = precision.before_sample()
        assert lead is not None and sys.getswitchinterval() < usual
        assert precision.before_sample() is None  # it is due
        precision.after_sample()
        assert sys.getswitchinterval() == usual
        leads.append(lead)
    assert max(leads) - min(leads) > 0.04 and not events  # at moments that have nothing to do with the first


def test_where_all_samples_are_precise_none_is_led_up_to(events: list[str]) -> None:
    usual = sys.getswitchinterval()
    precision = made(events)
    assert precision.before_sample() is not None
    precision.begin()  # a window opens meanwhile
    assert sys.getswitchinterval() < usual and events == ["precise"]
    assert precision.before_sample() is None
    precision.after_sample()
    assert sys.getswitchinterval() < usual
    precision.end()
    assert sys.getswitchinterval() == usual and events == ["precise", "precise_end"]
    sys.setswitchinterval(0.0001)  # the script's own
    assert precision.before_sample() is None
    precision.after_sample()
    assert abs(sys.getswitchinterval() - 0.0001) < 1e-9
