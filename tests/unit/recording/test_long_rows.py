"""Rows of minutes and of seconds: counted right, joined right, in a file that does not grow."""

from __future__ import annotations

from pathlib import Path

import msgspec
from stretch_builder import row

from tfperfkit.recording.stretch_counter import Durations, Minutes, StretchCounter
from tfperfkit.records.history import MINUTES, Stretch, joined, read
from tfperfkit.storage.run_directory import read_stream


def _rows(folder: Path) -> list[Stretch]:
    return read(read_stream(folder / MINUTES), Stretch)


def test_durations_of_any_number_are_told_from_a_few() -> None:
    durations = Durations()
    for number in range(1_000_00):
        durations.add(float(number % 1000))
    assert (durations.count, durations.max) == (100_000, 999.0)
    assert durations.total == 100 * 499_500
    assert abs(durations.at(0.5) - 500) < 30
    assert abs(durations.at(0.9) - 900) < 30
    assert len(durations._kept) < 1024


def test_an_empty_stretch() -> None:
    made = StretchCounter(5).close(9, 1.0, 0, 0, 0, 0, 0, 0)
    assert (made.begin_ns, made.end_ns, made.steps, made.median_ns) == (5, 9, 0, 0.0)


def test_neighbours_are_joined() -> None:
    made = joined([row(0, 10.0, traces=1), row(1, 20.0, steps=1500), row(2, steps=0, last_step_ns=7)])
    assert (made.steps, made.traces, made.begin_ns, made.end_ns) == (2000, 1, 0, row(2).end_ns)
    assert made.median_ns == 17.5e6
    assert made.max_ns == 40e6
    assert made.samples == {"graph": 12, "python": 3}


def test_weeks_of_minutes_stay_small_and_lose_no_step(tmp_path: Path) -> None:
    minutes = Minutes(tmp_path, max_bytes=40_000)
    for number in range(1000):
        minutes.append(row(number))
        minutes.flush()
    minutes.close()
    assert (tmp_path / MINUTES).stat().st_size < 50_000
    rows = _rows(tmp_path)
    assert sum(each.steps for each in rows) == 500_000
    assert rows[0].begin_ns == 0
    assert all(a.end_ns == b.begin_ns for a, b in zip(rows, rows[1:], strict=False))
    assert rows[-1] == row(999)  # the newest are as they were
    lengths = [each.end_ns - each.begin_ns for each in rows]
    assert lengths[0] > lengths[-1]


def test_damaged_rows_are_left_out(tmp_path: Path) -> None:
    good = msgspec.json.encode(row(1))
    (tmp_path / MINUTES).write_bytes(b'{"begin_ns": "x"}\n[]\n' + good + b"\n" + good[:20])
    assert _rows(tmp_path) == [row(1)]
