"""The follower while nobody wants to know of steps: calls are only counted, and the numbers go on about right."""

from __future__ import annotations

from tfperfkit.recording.step_follower import StepFollower
from tfperfkit.records.steps import Loop, Marker, Site

FETCH, CALL = 1, 2


def _follower(told: list[int], *, fetches: bool) -> StepFollower:
    follower = StepFollower(lambda number, _: told.append(number))
    loops = (Loop("t.py", 5),)
    if fetches:
        follower.add_site(Site(id=FETCH, kind="next", target=0, name="", file="t.py", line=5, loops=loops))
    follower.add_site(Site(id=CALL, kind="call", target=1, name="step", file="t.py", line=6, loops=loops))
    return follower


def _step(follower: StepFollower, number: int, *, fetches: bool, quiet: bool = False) -> None:
    for site in (FETCH, CALL) if fetches else (CALL,):
        marker = Marker(site, number * 100 + site * 10, number * 100 + site * 10 + 9)
        if quiet:
            follower.skip(marker)
        else:
            follower.entering(site)
            follower.marked(marker)


def _numbers(fetches: bool) -> list[int]:
    told: list[int] = []
    follower = _follower(told, fetches=fetches)
    for number in range(1, 41):
        _step(follower, number, fetches=fetches)
    before = told[-1]
    for number in range(41, 1041):
        _step(follower, number, fetches=fetches, quiet=True)
    assert told[-1] == before  # nobody was called
    for number in range(1041, 1051):
        _step(follower, number, fetches=fetches)
    return told


def test_numbers_go_on_after_calls_that_were_only_counted() -> None:
    for fetches in (False, True):
        told = _numbers(fetches)
        assert told == sorted(told)
        assert abs(told[-1] - 1050) <= 1, fetches


def test_the_number_is_right_where_the_end_of_a_call_is_reported_before_the_begin_of_one() -> None:
    """The pulse may ask for the next step in the midst of a call."""
    told: list[int] = []
    follower = _follower(told, fetches=False)
    for number in range(1, 101):
        _step(follower, number, fetches=False)
    for number in range(101, 1101):
        _step(follower, number, fetches=False, quiet=True)
    follower.marked(Marker(CALL, 110_120, 110_129))
    assert told[-1] >= 1100


def test_a_second_loop_that_trains_while_nobody_is_told_makes_steps_too() -> None:
    """Watch mode counts by what the follower takes for a step."""
    other = 3
    follower = _follower([], fetches=False)
    for number in range(1, 101):
        _step(follower, number, fetches=False)
    follower.add_site(Site(id=other, kind="call", target=1, file="t.py", line=9, loops=(Loop("t.py", 8),)))
    assert follower.is_step(CALL) and not follower.is_step(other)
    for number in range(101, 105):
        follower.skip(Marker(other, number * 100, number * 100 + 50))
    assert follower.is_step(other)
