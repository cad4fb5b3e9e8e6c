"""Arithmetic on arrays of spans is that on spans one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.xplane import intervals, spans

_SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted).map(tuple), max_size=12)


def arrays(pairs: list[tuple[int, int]]) -> intervals.Spans:
    return intervals.Spans(
        np.array([begin for begin, _ in pairs], dtype=np.int64), np.array([end for _, end in pairs], dtype=np.int64)
    )


def pairs(found: intervals.Spans) -> list[tuple[int, int]]:
    return list(zip(found.begin.tolist(), found.end.tolist(), strict=True))


@given(_SPANS, _SPANS)
def test_union_within_and_covered(left: list, right: list) -> None:
    one, other = spans.union(left), spans.union(right)
    mine, theirs = intervals.union([arrays(left)]), intervals.union([arrays(right)])
    assert pairs(mine) == one
    assert pairs(intervals.within(mine, theirs)) == spans.intersect(one, other)
    whole = spans.subtract([spans.Span(5, 50)], one)
    assert pairs(intervals.gaps(mine, 5, 50)) == whole
    covered = intervals.covered(theirs, mine.begin, mine.end).tolist()
    assert covered == [spans.total(spans.intersect([span], other)) for span in one]


def test_own_times() -> None:
    begin = np.array([0, 10, 12, 30, 100], dtype=np.int64)
    duration = np.array([50, 10, 3, 100, 5], dtype=np.int64)  # the fourth outlasts the first
    assert intervals.own_times(begin, duration).tolist() == [50 - 10 - 20, 7, 3, 95, 5]
    assert intervals.own_times(begin[:1], duration[:1]).tolist() == [50]


@given(_SPANS)
def test_in_order(events: list) -> None:
    begin = np.array([b for b, _ in events], dtype=np.int64)
    duration = np.array([e - b for b, e in events], dtype=np.int64)
    order = intervals.in_order(begin, duration)
    wanted = sorted(zip(begin.tolist(), (-duration).tolist(), strict=True))
    found = begin if order is None else begin[order]
    lengths = duration if order is None else duration[order]
    assert list(zip(found.tolist(), (-lengths).tolist(), strict=True)) == wanted
