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
