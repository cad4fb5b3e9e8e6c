"""Events that open a window, and those that don't."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from stretch_builder import ROW_S, row

from tfperfkit.records.history import Stretch
from tfperfkit.watching.triggers import MEMORY_MINUTES, PAST, STEADY, Triggers

_NOISE = np.random.default_rng(3).normal(1.0, 0.02, 4000)
MINUTE = 60 // ROW_S


def _found(rows: Iterable[Stretch]) -> list[tuple[int, str]]:
    triggers = Triggers(float(ROW_S))
    return [(index, change.why) for index, each in enumerate(rows) for change in triggers.add(each)]


def _usual(number: int, times: float = 1.0) -> Stretch:
    return row(number, 10.0 * times * float(_NOISE[number]))


def test_nothing_where_nothing_changes() -> None:
    assert _found(_usual(number) for number in range(1000)) == []


def test_steps_that_become_slower() -> None:
    ((index, why),) = _found(_usual(number, 1.3 if number >= 400 else 1.0) for number in range(800))
    assert why == "slower"
    assert 400 < index < 420


def test_what_is_slower_is_the_past_of_the_next_change() -> None:
    found = _found(_usual(number, 1.3 ** (number // 600)) for number in range(1800))
    assert [why for _, why in found] == ["slower", "slower"]


def test_a_change_that_is_sure_and_small_is_none() -> None:
    assert _found(row(number, 10.2 if number >= 400 else 10.0) for number in range(800)) == []


def test_faster_is_no_reason() -> None:
    assert _found(_usual(number, 0.5 if number >= 400 else 1.0) for number in range(800)) == []


def test_too_little_past_tells_nothing() -> None:
    assert _found(_usual(number, 2.0 if number >= PAST // 2 else 1.0) for number in range(PAST - 1)) == []


def test_windows_are_not_taken_for_slow_steps() -> None:
    rows = [row(number, 30.0 if 400 <= number < 440 else 10.0) for number in range(800)]
    rows[400:440] = [row(number, 30.0, windows=1) for number in range(400, 440)]
    assert _found(rows) == []


def test_a_slow_autocorrelated_load_is_not_taken_for_a_change() -> None:
    random, level, rows = np.random.default_rng(5), 0.0, []
    for number in range(4000):
        level = 0.9 * level + random.normal() * 0.436
        rows.append(row(number, 10.0 * (1 + 0.01 * level)))
    assert _found(rows) == []


def test_a_trace_in_the_steady_state() -> None:
    rows = [row(number) for number in range(3 * STEADY)]
    rows[0] = row(0, traces=3)
    rows[2 * STEADY] = row(2 * STEADY, traces=1, traced_ns=2_000_000_000)
    rows[2 * STEADY + 1] = row(2 * STEADY + 1, traces=1)  # not another reason
    assert _found(rows) == [(2 * STEADY, "traced")]


def test_traces_of_a_script_that_always_traces_are_no_reason() -> None:
    assert _found(row(number, traces=int(number % 5 == 0)) for number in range(200)) == []


def test_a_stall_is_reported_once() -> None:
    rows = [row(number) for number in range(20)] + [row(number, steps=0, last_step_ns=0) for number in range(20, 60)]
    ((index, why),) = _found(rows)
    assert why == "stall"
    assert index * ROW_S >= 20 * ROW_S + 30 - ROW_S


def test_slow_steps_and_a_script_without_steps_are_no_stall() -> None:
    slow = [row(n, steps=int(n % 8 == 0), max_ns=40e9, last_step_ns=(n + 1) * ROW_S * 10**9) for n in range(100)]
    assert _found(slow) == []
    assert _found(row(number, steps=0, last_step_ns=0) for number in range(100)) == []


def test_memory_that_grows() -> None:
    grows = [row(number, rss_bytes=500_000_000 + number * 300_000) for number in range(MEMORY_MINUTES * MINUTE + 1)]
    assert [why for _, why in _found(grows)] == ["growth"]


def test_memory_that_goes_up_and_down_or_grew_once_is_no_reason() -> None:
    count = MEMORY_MINUTES * MINUTE * 2
    assert _found(row(n, rss_bytes=500_000_000 + n % 40 * 5_000_000) for n in range(count)) == []
    assert _found(row(n, rss_bytes=500_000_000 + 200_000_000 * (n > 50)) for n in range(count)) == []
