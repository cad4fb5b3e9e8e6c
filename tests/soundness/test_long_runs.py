"""A long run counts every program, lists those over the time limit, and continues after it was stopped."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest
from late_tensorflow import needs_tensorflow
from tally import Tally

from benchmarks import soundness


def test_a_program_over_the_time_limit_is_listed_and_the_next_one_runs(tmp_path: Path) -> None:
    assert [each.programs + each.failed for each in soundness.check_in_process("source", 0, 2, 60, 1)] == [1, 1]
    assert list(soundness.check_in_process("source", 0, 2, 0.0, 1)) == []


def test_a_run_continues_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def check(kind: str, first: int, count: int, limit: float, together: int) -> Iterator[Tally]:
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


def test_programs_that_are_traced_together_run_one_by_one_after_one_of_them_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def check(kind: str, first: int, count: int, limit: float, together: int) -> Iterator[Tally]:
        begun.append((first, count, together))
        for seed in range(first, first + count, together):
            if 107 in range(seed, seed + together):
                return
            yield from [Tally(programs=1)] * together

    monkeypatch.setattr(soundness, "check_in_process", check)
    given = argparse.Namespace(keep=tmp_path, first=100, limit=1.0, page=tmp_path / "page.md")
    soundness.run_programs("graphs", 15, given)
    assert begun == [(100, 15, 5), (105, 5, 1), (108, 2, 1), (110, 5, 5)]
    assert soundness.Run.load(tmp_path / "graphs.json", 0).slow == [107]


@needs_tensorflow
def test_programs_that_are_traced_together_are_checked_each() -> None:
    """Each has its own claims, and one that raises leaves the others alone."""
    from graph_claims import check_together

    tallies = check_together(range(61_000_060, 61_000_065))
    alone = [check_together([seed])[0] for seed in range(61_000_060, 61_000_065)]
    assert [each.claims for each in tallies] == [each.claims for each in alone]
