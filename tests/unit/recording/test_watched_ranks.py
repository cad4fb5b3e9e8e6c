"""A rank's record of its computing and waiting in watch mode: sums that don't grow, rare readings."""

from __future__ import annotations

import pytest

from tfperfkit.clock import NS_PER_S
from tfperfkit.recording import processor_time
from tfperfkit.recording.processor_time import PairedTime
from tfperfkit.recording.stretch_counter import StretchCounter
from tfperfkit.records.history import joined


def test_each_sample_has_a_reading_before_it_and_one_at_once() -> None:
    used = iter([100, 107, 200, 260])
    paired = PairedTime(lambda: next(used))
    assert paired.due(5) and not paired.due(15)
    assert paired() == (107, 5, 100)
    assert paired.due(1005)
    assert paired() == (260, 1005, 200)


def test_a_sample_within_a_window_has_its_own_time_only() -> None:
    assert PairedTime(lambda: 7)() == (7,)


def test_a_stretch_has_sums_and_no_more_than_what_passed() -> None:
    counter = StretchCounter(0)
    for passed, used in ((10, 4), (10, 35), (10, -1), (0, 5)):  # several threads; a clock that was set back
        counter.computing(passed, used)
    made = counter.close(100, 1.0, 0, 0, 0, 0, 0, 0)
    assert (made.inside_ns, made.busy_ns) == (30, 14)
    both = joined([made, made])
    assert (both.inside_ns, both.busy_ns) == (60, 28)


@pytest.mark.parametrize(("rarely", "readings"), [(True, 1_700), (False, 43_201)])
def test_a_day_has_a_reading_a_minute(monkeypatch: pytest.MonkeyPatch, rarely: bool, readings: int) -> None:
    clock, rows = [0], list[list[int]]()
    monkeypatch.setattr(processor_time, "now_ns", lambda: clock[0])
    monkeypatch.setattr(processor_time, "all_threads_ns", lambda: (clock[0], 0))
    times = processor_time.ThreadTimes(rows.append, rarely=rarely)
    for clock[0] in range(0, 86_400 * NS_PER_S, 2 * NS_PER_S):
        times.note()
    assert len(rows) <= readings
    assert rows[10][0] < 60 * NS_PER_S  # a short run has several all the same
