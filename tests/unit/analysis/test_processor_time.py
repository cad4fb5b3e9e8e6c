"""The processor time of single steps, from what was noted now and then."""

from __future__ import annotations

import msgspec
import pytest

from tfperfkit.analysis.processor_time import step_times, used_ns
from tfperfkit.recording.processor_time import ProcessorTime
from tfperfkit.records.steps import Step, StepTable

MS = 1_000_000


def table(*windows: str, ms: int = 10) -> StepTable:
    steps = tuple(Step(n + 1, n * ms * MS, (n + 1) * ms * MS, window=window) for n, window in enumerate(windows))
    return StepTable(steps=steps, source="custom")


def notes(until_ms: int, used: float, waited: float | None, every_ms: int = 4) -> list[object]:
    return [
        [at * MS, round(at * MS * used), None if waited is None else round(at * MS * waited)]
        for at in range(1, until_ms, every_ms)
    ]


def test_two_threads_that_compute_use_twice_the_time() -> None:
    found = step_times(notes(100, 2.0, 0.25), table(*["clean"] * 10))
    assert found.clock == pytest.approx([10.0] * 8)  # the first and the last have no notes around them
    assert found.processor == pytest.approx([20.0] * 8)
    assert found.undisturbed == pytest.approx([7.5] * 8)


def test_what_ran_in_a_window_is_no_part_of_the_clean_steps_beside_it() -> None:
    steps = table(*["clean"] * 5, "lines", *["clean"] * 5)
    rows = [[at * MS, at * MS + (1000 * MS if at > 55 else 0), 0] for at in range(1, 110, 4)]
    assert step_times(rows, steps).processor == pytest.approx([10.0] * 6)


def test_a_call_of_many_steps_is_told_by_the_step() -> None:
    steps = StepTable(steps=tuple(Step(n * 5 + 1, n * 50 * MS, (n + 1) * 50 * MS, 5, 0, "clean") for n in range(4)))
    assert step_times(notes(200, 0.5, 0.0), steps).processor == pytest.approx([5.0] * 2)


def test_where_the_system_tells_no_waiting_the_processor_time_stays() -> None:
    found = step_times(notes(100, 1.0, None), table(*["clean"] * 10))
    assert found.undisturbed is None and len(found.processor) == 8


def test_too_few_notes_and_damaged_ones_tell_nothing() -> None:
    damaged: list[object] = [None, [1], ["a", 2, 3], {"ns": 3}, [5, 1.5, 0]]
    assert step_times([*damaged, *notes(9, 1.0, 0.0)], table(*["clean"] * 10)) == step_times([], table())


def test_notes_become_rarer_in_a_longer_run() -> None:
    written: list[list[int | None]] = []
    recorder = ProcessorTime(written.append, lambda: 7, lambda: None)
    second = 1_000_000_000
    for now in range(second, 3601 * second, 50 * MS):
        recorder.note(now)
    assert all(row[1:] == [7, None] for row in written)
    assert len(written) < 2500  # of 72,000 ticks in an hour


def test_the_table_may_be_empty() -> None:
    assert step_times(notes(100, 1.0, 0.0), msgspec.structs.replace(table("clean"), steps=())).clock == ()


def test_a_step_of_a_trial_is_told_with_what_passes_between_steps_but_not_with_our_pauses() -> None:
    steps = [Step(n + 1, n * 10 * MS, (n * 10 + 8) * MS) for n in range(5)]
    rows: list[object] = [[at * MS, at * 2 * MS, None] for at in (0, 10, 20, 28)]
    rows += [[at * MS, (1000 + at * 2) * MS, None] for at in (29, 30, 40, 48)]
    assert used_ns(rows, steps, [(28 * MS, 29 * MS)]) == pytest.approx((96 - 2) * MS / 5)
    assert used_ns(rows, steps, []) == pytest.approx(1096 * MS / 5)


def test_steps_without_notes_around_them_tell_no_processor_time() -> None:
    steps = [Step(1, 10 * MS, 20 * MS), Step(2, 20 * MS, 30 * MS)]
    assert used_ns([], steps, []) is None
    assert used_ns([[15 * MS, 1, None], [30 * MS, 2, None]], steps, []) is None  # the first began before
    assert used_ns([[10 * MS, 0, None], [20 * MS, 6, None]], steps, []) == pytest.approx(6)  # the last is not known
