"""Time by call site: what is on a line's stack, and where the way from the outermost line ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.records.source_span import SourceSpan

FILE = "train.py"


def entry(value: float, *lines: int, part: str = "data", api: str = "") -> Entry:
    """Time of a stack of these lines, outermost first; the innermost one calls ``api``."""
    calls = [()] * (len(lines) - 1) + [(api,) if api else ()]
    frames = tuple(
        Frame(FILE, 1, "<module>" if depth == 0 else f"f{depth}", line, None, calls[depth])
        for depth, line in enumerate(lines)
    )
    return Entry(Stack(frames, "", "python"), part, value)


def lines_of(ledger: Ledger) -> list[int]:
    """The lines of the call sites that take 2 or more."""
    return [site.where.line for site in ledger.find_call_sites(2.0)]


def test_the_inclusive_time_of_a_line_is_all_that_ran_below_it() -> None:
    ledger = Ledger([entry(3, 10, 20, part="tracing"), entry(2, 10, 20, part="saving"), entry(1, 11)], {"imports": 4.0})
    assert ledger.total == 10
    assert ledger.inclusive(FILE, 20) == 5 and ledger.inclusive(FILE, 11) == 1 and ledger.inclusive(FILE, 99) == 0
    assert ledger.sum_parts() == {"imports": 4, "tracing": 3, "saving": 2, "data": 1}


def test_a_line_that_calls_itself_counts_once() -> None:
    assert Ledger([entry(3, 10, 20, 20, 20)]).inclusive(FILE, 20) == 3


def test_the_call_site_is_the_innermost_line_that_takes_enough() -> None:
    export = "keras.src.models.model:export"
    ledger = Ledger(
        [entry(5, 10, 20, api=export, part="tracing"), entry(2, 10, 20, api=export, part="saving"), entry(1, 10, 21)]
    )
    (site,) = ledger.find_call_sites(2.0)
    assert (site.where, site.frame.calls, site.value) == (SourceSpan(FILE, 20, "f1"), (export,), 7)
    assert site.parts == {"tracing": 5, "saving": 2} and [frame.line for frame in site.callers] == [10]


def test_many_small_lines_are_reported_where_they_are_called_unless_that_starts_the_script() -> None:
    rows = [entry(1, 10, 20, line) for line in range(30, 40)]
    assert Ledger(rows).find_call_sites(2.0) == []
    assert lines_of(Ledger([*rows, entry(5, 10, 21)])) == [20, 21]
    assert lines_of(Ledger([*rows, entry(3, 10, 20)])) == [20]


def test_what_is_taken_away_is_in_no_call_site() -> None:
    ledger = Ledger([entry(5, 10, 20), entry(4, 10, 21), entry(3, 11)])
    assert lines_of(ledger) == [20, 21, 11]
    rest = ledger.without(ledger.find_below([(FILE, 10)]))
    assert lines_of(rest) == [11]


@given(
    st.lists(st.tuples(st.floats(0.01, 9), st.lists(st.integers(1, 4), min_size=1, max_size=4)), max_size=12),
    st.floats(0.01, 5),
)
def test_no_moment_counts_for_two_call_sites(rows: list[tuple[float, list[int]]], lower: float) -> None:
    ledger = Ledger([entry(value, *lines) for value, lines in rows])
    sites = ledger.find_call_sites(lower)
    assert all(lower <= site.value <= ledger.inclusive(*site.place) + 1e-9 for site in sites)
    assert sum(site.value for site in sites) <= ledger.total + 1e-9
    assert all(sum(site.parts.values()) == pytest.approx(site.value) for site in sites)
    assert all(ledger.add_up(site.entries) == pytest.approx(site.value) for site in sites)
    assert sum(len(site.entries) for site in sites) == len(frozenset().union(*(site.entries for site in sites)))
