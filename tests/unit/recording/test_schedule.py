"""The schedule of windows, played step by step without a clock."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tfperfkit_probes.tfprof.probe import TfprofProbe

from tfperfkit.clock import NS_PER_MS, NS_PER_S
from tfperfkit.errors import UsageError
from tfperfkit.probe import WindowWish
from tfperfkit.recording.schedule import (
    WARMUP_MAX,
    Action,
    Scheduler,
    WindowSpec,
    baseline_count,
    parse_window,
    planned_together,
    wished_count,
)
from tfperfkit.records.steps import WARMUP_MIN

LINES, TFPROF = WindowSpec("lines"), WindowSpec("tfprof", wish=TfprofProbe.window)
Boundaries = list[tuple[int, Action]]


def play(
    windows: list[WindowSpec], steps: int, step_ns: int, traced: Callable[[int], bool] = lambda step: step == 1
) -> Boundaries:
    """Return the scheduler's answers at the boundaries of a run; ``traced`` says which steps traced a function."""
    scheduler = Scheduler(windows)
    return [
        (number, action)
        for number in range(2, steps + 2)
        for action in scheduler.boundary(number, step_ns, traced(number - 1))
    ]


def spans(boundaries: Boundaries) -> dict[str, tuple[int, int]]:
    """(first step, first step after) of each window that was opened and closed."""
    opened = {action.probe: number for number, action in boundaries if action.kind == "open"}
    return {action.probe: (opened[action.probe], n) for n, action in boundaries if action.kind == "close"}


def warm(boundaries: Boundaries) -> int | None:
    return next((number for number, action in boundaries if action.kind == "warm"), None)


@pytest.mark.parametrize("step_s", [0.3, 0.5, 1, 5, 60])
def test_twenty_slow_steps_get_all_windows(step_s: float) -> None:
    boundaries = play([LINES, TFPROF], 20, int(step_s * NS_PER_S))
    assert sorted(spans(boundaries)) == ["lines", "tfprof"]
    assert max(after for _, after in spans(boundaries).values()) <= 20  # and clean steps to end with


@pytest.mark.parametrize("step_ms", [0.1, 1, 5, 20, 100])
def test_hundred_fast_steps_get_all_windows(step_ms: float) -> None:
    boundaries = play([LINES, TFPROF], 100, int(step_ms * NS_PER_MS))
    assert sorted(spans(boundaries)) == ["lines", "tfprof"]
    first, _ = min(spans(boundaries).values())
    assert first - (warm(boundaries) or 0) >= 3  # clean steps to measure against


def test_windows_of_fast_steps_are_bounded_in_steps_and_of_slow_ones_in_time() -> None:
    usual, trace = WindowWish(), TfprofProbe.window
    assert wished_count(usual, 0.01 * NS_PER_MS) == 40
    assert wished_count(trace, 0.01 * NS_PER_MS) == 22
    assert wished_count(usual, 60 * NS_PER_S) == 2
    assert wished_count(trace, 60 * NS_PER_S) == 5  # XProf drops the first and the last one
    assert wished_count(WindowWish(min_steps=0, min_slow_steps=0, max_steps=0), NS_PER_S) == 1
    assert baseline_count(0.01 * NS_PER_MS) == 30
    assert baseline_count(60 * NS_PER_S) == 2


def test_warmup_lasts_two_steps_when_nothing_traces() -> None:
    assert warm(play([LINES], 20, NS_PER_S, lambda step: False)) == WARMUP_MIN + 1


def test_warmup_goes_on_while_steps_trace() -> None:
    assert warm(play([LINES], 20, NS_PER_S, lambda step: step <= 6)) == 8


def test_script_that_always_retraces_is_measured_as_it_is() -> None:
    boundaries = play([LINES], 40, NS_PER_S, lambda step: True)
    assert warm(boundaries) == WARMUP_MAX + 1
    assert "lines" in spans(boundaries)


def test_run_that_ends_in_warmup_has_no_window() -> None:
    assert play([LINES, TFPROF], 1, NS_PER_S) == []


def test_window_that_was_asked_for_begins_and_ends_there() -> None:
    boundaries = play([WindowSpec("lines", 7, 4)], 20, NS_PER_S)
    assert spans(boundaries) == {"lines": (7, 11)}


def test_window_asked_for_in_the_warmup() -> None:
    boundaries = play([WindowSpec("lines", 2, 3)], 20, NS_PER_S)
    assert spans(boundaries) == {"lines": (2, 5)}
    assert warm(boundaries) is not None


def test_asked_for_and_chosen_windows_do_not_overlap() -> None:
    found = spans(play([WindowSpec("lines", 6, 10), WindowSpec("tfprof", 8, 4)], 40, NS_PER_S))
    assert found == {"lines": (6, 16), "tfprof": (16, 20)}


def test_number_of_steps_alone() -> None:
    boundaries = play([WindowSpec("lines", None, 5)], 40, NS_PER_S)
    begin, after = spans(boundaries)["lines"]
    assert after - begin == 5
    assert begin > (warm(boundaries) or 0)


def test_window_over_the_whole_run_is_not_scheduled() -> None:
    assert spans(play([WindowSpec("lines", whole=True)], 40, NS_PER_S)) == {}


def test_window_given_by_time_is_not_given_again() -> None:
    scheduler = Scheduler([LINES, TFPROF])
    scheduler.give_up(LINES)
    assert scheduler.waiting == (TFPROF,)


def test_window_that_cannot_open_comes_later_and_not_for_ever() -> None:
    scheduler = Scheduler([TFPROF])
    asked = []
    for number in range(2, 50_000):
        for action in scheduler.boundary(number, NS_PER_S, number == 2):
            if action.kind == "open":
                asked.append(number)
                scheduler.put_off(number)
    assert asked == [5, 7, 10, 15, 22, 33, 49, 73, 109, 163, 244]
    assert scheduler.idle


def test_window_that_was_put_off_lasts_as_long_as_any() -> None:
    scheduler = Scheduler([LINES, TFPROF])
    seen = []
    for number in range(2, 100):
        for action in scheduler.boundary(number, NS_PER_S, number == 2):
            seen.append((number, action.kind, action.probe))
            if (action.kind, action.probe) == ("open", "lines") and number < 10:
                scheduler.put_off(number)
    ordinary = wished_count(TFPROF.wish, NS_PER_S)
    opened = {probe: number for number, kind, probe in seen if kind == "open"}
    closed = {probe: number for number, kind, probe in seen if kind == "close"}
    assert closed["tfprof"] - opened["tfprof"] == ordinary
    assert opened["lines"] >= closed["tfprof"]  # it waits for the one that has begun meanwhile
    assert closed["lines"] - opened["lines"] == wished_count(LINES.wish, NS_PER_S)
    assert scheduler.idle


def test_several_steps_between_two_boundaries() -> None:
    """``steps_per_execution``: the numbers jump; a window then lasts at least as long as it should."""
    scheduler = Scheduler([WindowSpec("lines", 15, 12)])
    told = [(n, action.kind) for n in range(11, 92, 10) for action in scheduler.boundary(n, NS_PER_S, False)]
    assert [item for item in told if item[1] != "warm"] == [(21, "open"), (41, "close")]


def test_of_epochs_in_one_call_the_third_is_traced_and_the_trace_comes_first() -> None:
    """Few calls may come, and Python sees nothing in them: one is a baseline of many steps."""
    scheduler = Scheduler([LINES, TFPROF])
    told = [(n, a.kind, a.probe) for n in range(51, 301, 50) for a in scheduler.boundary(n, 3 * NS_PER_S, n == 51)]
    assert [item for item in told if item[1] == "open"] == [(101, "open", "tfprof"), (151, "open", "lines")]


@pytest.mark.parametrize("step_ns", [NS_PER_MS, 60 * NS_PER_S])
@pytest.mark.parametrize("traces_until", [1, 7, 1000])
def test_ranks_open_at_the_same_steps_however_fast_they_are(step_ns: int, traces_until: int) -> None:
    windows = planned_together([WindowSpec("devices"), LINES, TFPROF])
    found = spans(play(windows, 60, step_ns, lambda step: step <= traces_until))
    assert found == {"devices": (12, 22), "lines": (22, 32), "tfprof": (32, 44)}


def test_a_window_that_one_rank_leaves_out_moves_no_other() -> None:
    left_out = planned_together([WindowSpec("devices"), WindowSpec("lines", never=True), TFPROF])
    assert spans(play(left_out, 60, NS_PER_S)) == {"devices": (12, 22), "tfprof": (32, 44)}
    asked = planned_together([WindowSpec("devices", None, 4), WindowSpec("lines", 40, 2), TFPROF])
    assert spans(play(asked, 60, NS_PER_S)) == {"devices": (12, 16), "tfprof": (16, 28), "lines": (40, 42)}


def test_windows_of_ranks_are_never_given_by_time() -> None:
    assert all(spec.start is not None for spec in Scheduler(planned_together([LINES, TFPROF])).waiting)


@settings(deadline=None)
@given(
    windows=st.lists(
        st.builds(
            WindowSpec,
            st.sampled_from(["lines", "tfprof", "ops"]),
            st.none() | st.integers(1, 60),
            st.none() | st.integers(1, 20),
        ),
        max_size=3,
        unique_by=lambda spec: spec.probe,
    ),
    steps=st.lists(st.tuples(st.integers(0, 3 * NS_PER_S), st.booleans()), max_size=150),
)
def test_one_window_at_a_time_and_each_once(windows: list[WindowSpec], steps: list[tuple[int, bool]]) -> None:
    scheduler = Scheduler(windows)
    inside, opened = "", []
    for number, (step_ns, traced) in enumerate(steps, 2):
        for action in scheduler.boundary(number, step_ns, traced):
            if action.kind == "close":
                assert action.probe == inside
                inside = ""
            elif action.kind == "open":
                assert inside == ""
                assert action.steps is not None and action.steps >= 1
                inside = action.probe
                opened.append(inside)
    assert len(opened) == len(set(opened))
    assert {*opened, *(spec.probe for spec in scheduler.waiting)} == {spec.probe for spec in windows}


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("lines=5:3", WindowSpec("lines", 5, 3)),
        ("lines=:3", WindowSpec("lines", None, 3)),
        ("lines=3", WindowSpec("lines", None, 3)),
        ("lines=all", WindowSpec("lines", whole=True)),
    ],
)
def test_window_as_written(text: str, spec: WindowSpec) -> None:
    assert msgspec.structs.asdict(parse_window(text)) == msgspec.structs.asdict(spec)


def test_no_window_and_the_usual_one() -> None:
    assert parse_window("lines=none") == WindowSpec("lines", never=True)
    assert parse_window("lines=auto") == WindowSpec("lines")
    assert Scheduler([parse_window("lines=none"), parse_window("tfprof=auto")]).waiting == (WindowSpec("tfprof"),)


@pytest.mark.parametrize(
    "text",
    ["", "lines", "lines=", "=3", "=all", "lines=5:", "lines=:", "lines=0:3", "lines=-2:3", "lines=5:0", "lines=x:3"],
)
def test_window_that_means_nothing(text: str) -> None:
    with pytest.raises(UsageError, match="PROBE=START:COUNT"):
        parse_window(text)
