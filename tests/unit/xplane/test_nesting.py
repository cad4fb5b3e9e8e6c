"""Arrays tell which event is within which as a stack of the open events does."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.xplane.intervals import Ints
from tfperfkit.xplane.nesting import Flags, around, nearest, pieces, without_empty

#: Begin, length, whether it opens, whether it is wanted. Events may outlast the ones that they begin in.
_EVENT = st.tuples(st.integers(0, 40), st.sampled_from([0, 1, 2, 5, 30]), st.booleans(), st.booleans())
_EVENTS = st.lists(_EVENT, max_size=40).map(lambda events: sorted(events, key=lambda event: (event[0], -event[1])))


def arrays(events: list[tuple[int, int, bool, bool]]) -> tuple[Ints, Ints, Flags, Flags]:
    begin = np.array([event[0] for event in events], dtype=np.int64)
    end = begin + np.array([event[1] for event in events], dtype=np.int64)
    opens, wanted = (np.array([event[part] for event in events], dtype=bool) for part in (2, 3))
    return begin, end, opens, wanted


def one_by_one(begin: Ints, end: Ints, opens: Flags, wanted: Flags) -> tuple[list[int], list[int]]:
    """Return the top of the stack at each event, and the wanted event that is nearest to it on the stack."""
    stack: list[int] = []
    tops, found = [], []
    for place in range(len(begin)):
        while stack and begin[place] >= end[stack[-1]]:
            stack.pop()
        tops.append(stack[-1] if stack else -1)
        found.append(next((each for each in reversed(stack) if wanted[each]), -1))
        if opens[place]:
            stack.append(place)
    return tops, found


@given(_EVENTS)
def test_the_event_around_each_and_the_nearest_wanted_one(events: list) -> None:
    begin, end, opens, wanted = arrays(events)
    tops, found = one_by_one(begin, end, opens, wanted)
    parent = around(begin, end, opens)
    assert parent.tolist() == tops
    assert nearest(parent, wanted).tolist() == found


@given(_EVENTS, st.integers(1, 9))
def test_no_event_is_around_one_of_another_piece(events: list, size: int) -> None:
    begin, end, opens, wanted = arrays(events)
    cuts = list(pieces(begin, end, size))
    assert [place for cut in cuts for place in range(len(begin))[cut]] == list(range(len(begin)))
    assert all(cut.stop - cut.start >= size for cut in cuts[:-1])
    found: list[int] = []
    for cut in cuts:
        parent = around(begin[cut], end[cut], opens[cut])
        found += np.where(parent >= 0, parent + cut.start, -1).tolist()
    assert found == around(begin, end, opens).tolist()


def test_pieces_end_where_nothing_is_open() -> None:
    begin = np.array([0, 1, 10, 20, 21, 22, 30], dtype=np.int64)
    end = np.array([5, 5, 12, 40, 22, 23, 31], dtype=np.int64)
    assert list(pieces(begin, end, 2)) == [slice(0, 2), slice(2, 7)]


@given(_EVENTS)
def test_only_events_around_nothing_are_left_out(events: list) -> None:
    begin, end, opens, may_go = arrays(events)
    every = np.arange(len(begin))
    left = without_empty(begin, end, every, may_go)
    gone = set(every.tolist()) - set(left.tolist())
    assert all(may_go[place] for place in gone)
    parent = around(begin, end, np.ones(len(begin), dtype=bool))
    assert not gone & set(parent[left].tolist())  # what is left has lost no event around it
    outer = around(begin[left], end[left], np.ones(len(left), dtype=bool))
    assert np.where(outer >= 0, left[outer] if len(left) else outer, -1).tolist() == parent[left].tolist()


def test_a_chain_of_empty_events_goes_and_one_around_something_stays() -> None:
    begin = np.array([0, 1, 2, 50, 51, 52], dtype=np.int64)
    end = np.array([9, 8, 7, 60, 59, 53], dtype=np.int64)
    may_go = np.array([True, True, True, True, True, False])
    assert without_empty(begin, end, np.arange(6), may_go).tolist() == [3, 4, 5]
