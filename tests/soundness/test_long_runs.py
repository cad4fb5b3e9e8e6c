"""A long run counts every program, lists those over the time limit, and continues after it was stopped."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from tally import Tally

from benchmarks import soundness


def test_a_program_over_the_time_limit_is_listed_and_the_next_one_runs(tmp_path: Path) -> None:
    assert [each.programs + each.failed for each in soundness.check_in_process("source", 0, 2, 60)] == [1, 1]
    assert list(soundness.check_in_process("source", 0, 2, 0.0)) == []


def test_a_run_continues_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def check(kind: str, first: int, count: int, limit: float) -> Iterator[Tally]:
        begun.append(first)
        for seed in range(first, first + count):
            if seed == 103:
                return
            yield Tally(programs=1)

    monkeypatch.setattr(soundness, "check_in_process", check)
    monkeypatch.setitem(soundness.PER_PROCESS, "source", 4)
    given = argparse.Namespace(keep=tmp_path, first=100, limit=1.0, page=tmp_path / "page.md")
    assert not soundness.run_programs("source", 6, given)
    assert not soundness.run_programs("source", 10, given)
    assert begun == [100, 104, 106]
    run = soundness.Run.load(tmp_path / "source.json", 0)
    assert (run.first, run.following, run.tally.programs, run.slow) == (100, 110, 9, [103])
    assert "time limit: 103." in (tmp_path / "page.md").read_text(encoding="utf-8")
