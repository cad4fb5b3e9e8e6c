"""Who came last over the time of a run in watch mode: by the steps' numbers, in rows that stay few."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tfperfkit.model import History, Period
from tfperfkit.ranks.arrival import late
from tfperfkit.ranks.moments import Moment, moments
from tfperfkit.ranks.over_time import over_time
from tfperfkit.ranks.part import Part
from tfperfkit.ranks.parts import whole
from tfperfkit.ranks.words import by_time, late_words
from tfperfkit.report.terminal import UNICODE


def history(minutes: int, graph: float, share: float | None = 0.5, **fields: Any) -> History:
    """Minutes of 600 steps of 100 ms; ``graph`` of the samples in compiled functions, ``share`` of that computes."""
    rows = [
        Period(
            begin_s=60.0 * n,
            end_s=60.0 * (n + 1),
            steps=600,
            step=600 * (n + 1),
            doing={"graph": graph, "python": 1 - graph},
            compute_share=share,
            **fields,
        )
        for n in range(minutes)
    ]
    return History(periods=tuple(rows))


def rank(number: int, *rows: Moment) -> Part:
    return Part(name=f"rank-{number:04}", rank=number, size=2, status="finished", moments=rows)


def test_weeks_are_few_moments_of_a_rank() -> None:
    found = moments(history(20_160, 0.8))
    assert 30 <= len(found) <= 60
    assert (found[0].after, found[-1].step, found[-1].until_s) == (0, 600 * 20_160, 60.0 * 20_160)
    assert found[7].turn_ms == pytest.approx(100)
    assert (found[7].outside_ms, found[7].compute_ms) == (pytest.approx(20), pytest.approx(40))


def test_minutes_without_steps_or_with_windows_tell_nothing() -> None:
    assert moments(None) == ()
    assert moments(history(5, 0.8, windows=1)) == ()
    assert moments(History(periods=(Period(begin_s=0, end_s=60, steps=0, doing={"graph": 1.0}),))) == ()


def test_a_rank_that_comes_last_in_the_second_half() -> None:
    """Whose minutes lie elsewhere: it began later, and each has another number of steps."""
    waits = moments(history(40, 0.9, 0.1))
    slow = [
        Moment(after=n * 1000, step=(n + 1) * 1000, until_s=100.0 * n, turn_ms=100.0, outside_ms=ms, compute_ms=9.0)
        for n, ms in enumerate([10.0] * 12 + [70.0] * 12)
    ]
    found = over_time((rank(0, *waits), rank(1, *slow)))
    assert [each.late for each in found] == [False] * 6 + [True] * 6
    assert {each.last for each in found[6:]} == {"rank 1"}
    assert found[-1].wait_ms == pytest.approx(79 - 19)
    assert (found[-1].step, found[0].step) == (24_000, 2_000)


def test_nothing_where_ranks_do_not_wait_for_each_other_or_one_is_not_known() -> None:
    slow = Moment(after=0, step=100, until_s=9, turn_ms=50, outside_ms=1, compute_ms=1)
    quick = Moment(after=0, step=100, until_s=9, turn_ms=10, outside_ms=1, compute_ms=1)
    assert over_time((rank(0, slow), rank(1, quick))) == ()
    assert over_time((rank(0, slow), rank(1))) == ()
    later = Moment(after=200, step=300, until_s=9, turn_ms=50, outside_ms=1, compute_ms=1)
    assert over_time((rank(0, slow), rank(1, later))) == ()


def test_how_often_a_rank_was_last_is_counted_by_stretches() -> None:
    """Samples of watch mode are too rare for tens of steps."""
    one, two = (
        Part(
            name=f"rank-000{number}",
            size=2,
            turn_ms=100.0,
            inside_ms=inside,
            moments=moments(history(20, inside / 100, None)),
            outside_ms={"python": 100.0 - inside},
        )
        for number, inside in ((0, 95.0), (1, 30.0))
    )
    found, _ = late((one, two), None)
    assert found is not None
    assert (found.rank, found.times, found.of, found.unit) == ("rank 1", 12, 12, "stretches of the run")


def test_the_table_names_nobody_within_chance() -> None:
    even = whole(Path("/nowhere"), (rank(0, *moments(history(3, 0.5))), rank(1, *moments(history(3, 0.52)))))
    assert [row[3:] for row in by_time(even).rows] == [(None, None)] * 3
    assert late_words(even, UNICODE) == ""
