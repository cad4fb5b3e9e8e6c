"""The call that raised is no step."""

from __future__ import annotations

from typing import Any

import pytest

from tfperfkit.analysis.step_table import without_failed
from tfperfkit.records.steps import PAUSE, Marker, Site

AT = (("/home/train.py", 2), ("/home/train.py", 4))
SITES = {
    1: Site(id=1, kind="call", target=1, file=AT[0][0], line=AT[0][1], chain=AT),
    2: Site(id=2, kind="next", target=0, file="/home/train.py", line=1, chain=(("/home/train.py", 1), AT[1])),
}
STEPS = [Marker(2, 0, 1), Marker(1, 1, 5), Marker(2, 5, 6), Marker(1, 6, 9)]


def end(*raised: tuple[str, int]) -> list[dict[str, Any]]:
    return [{"kind": "end", "ns": 10, "failed": True, "raised": [list(each) for each in raised]}]


def test_the_last_call_is_left_out_where_the_exception_passed_its_lines() -> None:
    assert without_failed(STEPS, SITES, end(*AT)) == STEPS[:-1]
    pause = Marker(PAUSE, 9, 11, 0)  # our own, as the recording ended
    assert without_failed([*STEPS, pause], SITES, end(*AT)) == [*STEPS[:-1], pause]


@pytest.mark.parametrize(
    "events",
    [
        [],
        [{"kind": "end", "ns": 10, "failed": True}],
        end(("/home/train.py", 3), AT[1]),  # another line
        end(AT[0]),  # the same line, reached in another way
        [{"kind": "end", "raised": "damaged"}],
        [{"kind": "end", "raised": [1, None]}],
    ],
)
def test_other_endings_leave_all_steps(events: list[dict[str, Any]]) -> None:
    assert without_failed(STEPS, SITES, events) == STEPS


def test_a_fetch_that_raised_was_no_update() -> None:
    assert without_failed(STEPS[:3], SITES, end(*AT)) == STEPS[:3]
    assert without_failed([], SITES, end(*AT)) == []
