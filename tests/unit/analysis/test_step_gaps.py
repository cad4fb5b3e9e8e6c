"""Gaps where watch mode dropped records: no step goes across the gap, and steps have the numbers that they had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfperfkit.analysis.step_table import read_steps
from tfperfkit.records.steps import Loop, Site, StepTable
from tfperfkit.storage.run_directory import Manifest, RunDirectory

SITE = Site(id=1, kind="call", target=1, file="t.py", line=3, loops=(Loop("t.py", 2),))
STEP, LASTS = 1000, 600


def _table(folder: Path, files: dict[int, list[Any]]) -> StepTable:
    run = RunDirectory.create(folder / "run", Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[]))
    (run.path / "records.jsonl").write_bytes(b'["session/sites",' + msgspec.json.encode(SITE) + b"]\n")
    (run.path / "details").mkdir()
    for number, rows in files.items():
        lines = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        (run.path / "details" / f"{number:06}.jsonl").write_bytes(lines)
    return read_steps(run, [])


def _file(number: int, first: int, count: int) -> list[Any]:
    """Return a file of the ring with the steps from ``first`` (from 0) on."""
    markers = [["session/markers", [1, at * STEP, at * STEP + LASTS]] for at in range(first, first + count)]
    return [["session/segments", [number, first * STEP, first]], *markers]


def test_without_a_gap_nothing_is_dropped(tmp_path: Path) -> None:
    table = _table(tmp_path, {0: _file(0, 0, 10), 1: _file(1, 10, 10)})
    assert (table.count, table.dropped, table.gaps) == (20, 0, ())
    assert [step.number for step in table.steps] == list(range(1, 21))


@pytest.mark.parametrize(("sizes", "known"), [((50,), 50), ((50, 0), 50), ((50, 32), 0)])
def test_iterators_of_a_run_without_steps_tell_the_batch(tmp_path: Path, sizes: tuple[int, ...], known: int) -> None:
    run = RunDirectory.create(tmp_path / "run", Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[]))
    sites = [Site(id=n, kind="next", target=1, file="t.py", line=n, batch_size=size) for n, size in enumerate(sizes, 1)]
    rows = b"".join(b'["session/sites",' + msgspec.json.encode(site) + b"]\n" for site in sites)
    (run.path / "records.jsonl").write_bytes(rows)
    table = read_steps(run, [])
    assert (table.count, table.batch_size) == (0, known)


def test_a_gap_is_no_step_and_its_steps_are_counted(tmp_path: Path) -> None:
    table = _table(tmp_path, {0: _file(0, 0, 10), 7: _file(7, 500, 10), 8: _file(8, 510, 5)})
    assert table.gaps == ((9 * STEP + LASTS, 500 * STEP),)
    assert table.dropped == 490
    assert table.count == 515
    assert [step.number for step in table.steps] == [*range(1, 11), *range(501, 516)]
    assert max(step.duration_ns for step in table.steps) <= STEP
    assert table.pauses == ()  # it was not we who made the script wait


@pytest.mark.parametrize("damage", [[["session/segments", "x"]], [["session/segments", [7, 1, -5, 3]]], [[]]])
def test_damaged_heads_cost_numbers_only(tmp_path: Path, damage: list[Any]) -> None:
    table = _table(tmp_path, {0: _file(0, 0, 10), 7: [*damage, *_file(7, 500, 10)[1:]]})
    assert len(table.steps) == 20


def test_heads_that_say_less_than_was_seen_drop_nothing(tmp_path: Path) -> None:
    table = _table(
        tmp_path, {0: _file(0, 0, 10), 7: [["session/segments", [7, 500 * STEP, 3]], *_file(7, 500, 10)[1:]]}
    )
    assert (table.dropped, table.count) == (0, 20)
