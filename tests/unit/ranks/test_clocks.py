"""How far apart clocks are, from exchanges whose true times are known here."""

from __future__ import annotations

import random

import msgspec
import pytest

from tfperfkit.offers import Exchange
from tfperfkit.ranks.clocks import Offset, offsets, words
from tfperfkit.ranks.part import Part

MS = 1_000_000


def pair(ahead_s: float, *, name: str = "all-reduce", seed: int = 0) -> tuple[Part, Part]:
    """Two ranks that come to forty exchanges at random times; the calendar of the second is so far ahead. Their other
    clocks began at different times."""
    chance = random.Random(seed)
    rows: tuple[list[Exchange], list[Exchange]] = ([], [])
    for step in range(40):
        begins = [step * 50 + chance.uniform(0, 20) for _ in rows]
        for mine, begin, started in zip(rows, begins, (0, 7_000), strict=True):
            end = max(begins) + chance.uniform(0.5, 1.5)  # ms: each has the result a little later
            ended_ns = round((end + started) * MS)
            handed_over = round((begin + 0.01 + started) * MS)  # a short event of the same name, before the wait
            mine.append(Exchange(step=step, name=name, ms=0.01, ended_ns=handed_over))
            mine.append(Exchange(step=step, name=name, ms=end - begin, ended_ns=ended_ns))
    now = 1_795_000_000.0
    return (
        Part(name="rank-0000", exchanges=tuple(rows[0]), calendar_s=now),
        Part(name="rank-0001", exchanges=tuple(rows[1]), calendar_s=now - 7 + ahead_s),
    )


@pytest.mark.parametrize("ahead_s", [0.0, 0.003, -5 * 3600.0, 3 * 3600.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_offset_lies_within_its_error(ahead_s: float, seed: int) -> None:
    (found,) = offsets(pair(ahead_s, seed=seed))
    assert abs(found.ahead_s - ahead_s) <= found.error_s + 1e-6
    assert (found.rank, found.other, found.exchanges) == ("rank 1", "rank 0", 40)
    assert found.error_s < 0.003


def test_nothing_is_reported_where_nothing_is_known() -> None:
    first, second = pair(60.0)
    untimed = tuple(msgspec.structs.replace(row, ended_ns=None) for row in second.exchanges)
    others = tuple(msgspec.structs.replace(row, name="another") for row in second.exchanges)
    for exchanges in ((), untimed, others):
        assert offsets((first, msgspec.structs.replace(second, exchanges=exchanges))) == []
    assert offsets(pair(60.0, name="HorovodBroadcast")) == []  # its sender may be through before others begin
    assert words([]) == ""


def test_what_contradicts_itself_is_not_told() -> None:
    first, second = pair(0.0)
    rows = list(second.exchanges)
    late = {"ended_ns": (rows[3].ended_ns or 0) + 500 * MS, "ms": 1.0}
    rows[2:4] = [msgspec.structs.replace(rows[3], **late)]
    assert offsets((first, msgspec.structs.replace(second, exchanges=tuple(rows)))) == []


def test_words() -> None:
    def make_offset(ahead_s: float, error_s: float = 0.0005) -> Offset:
        return Offset(rank="rank 1", other="rank 0", ahead_s=ahead_s, error_s=error_s, exchanges=40)

    assert words([make_offset(0.0001)]) == "The clocks of the ranks agree, as far as exchanges tell: to 0.5 ms."
    assert words([make_offset(10_800.0)]) == (
        "Clocks differ, as exchanges tell: rank 1's is 3 h ahead of rank 0's (give or take 0.5 ms)."
    )
    assert "rank 1's is 4.2 s behind rank 0's" in words([make_offset(-4.2)])
