"""Lines by ``sys.monitoring``, which Python has from 3.12 on: events of the measured functions and of no others."""

from __future__ import annotations

import cProfile
import sys
from collections.abc import Callable
from typing import Any

import pytest
from line_profiler import LineProfiler
from tfperfkit_probes.lines import monitored
from tfperfkit_probes.lines.measure import LineMeasurement

monitoring: Any = getattr(sys, "monitoring", None)


def turns(count: int) -> int:
    total = 0
    for number in range(count):
        total += other(number)
    return total


def other(number: int) -> int:
    if number == 3:
        return 0
    return number


def deep(left: int) -> int:
    if left == 0:
        return 1
    return deep(left - 1) + 1


def raising(count: int) -> int:
    for number in range(count):
        if number == 2:
            raise ValueError(number)
    return 0


def hits(measured: LineMeasurement) -> dict[tuple[str, int], int]:
    """Return the hits of each line, counted from its function's first line."""
    return {(row["function"], line - row["line"]): count for row in measured.rows() for line, count, _ in row["lines"]}


def measure(function: Callable[[int], object], count: int) -> LineMeasurement:
    measured = LineMeasurement()
    measured.add(function.__code__)
    with measured.running():
        function(count)
    return measured


def test_only_what_was_chosen_has_events() -> None:
    measured = LineMeasurement()
    measured.add(turns.__code__)
    seen: list[Any] = []
    with measured.running():
        place = measured._own._place if measured._own is not None else 0
        assert place in (3, 4) and monitoring.get_tool(monitoring.PROFILER_ID) is None
        seen = [monitoring.get_local_events(place, code) for code in (turns.__code__, other.__code__)]
        everywhere = monitoring.get_events(place)
        turns(10)
    assert seen[0] & monitoring.events.LINE and not seen[1]
    assert not everywhere & (monitoring.events.LINE | monitoring.events.PY_RETURN)
    assert hits(measured)["turns", 3] == 10 and not any(name == "other" for name, _ in hits(measured))


def test_the_place_is_given_back() -> None:
    measure(turns, 3)
    assert [monitoring.get_tool(each) for each in (2, 3, 4)] == [None] * 3
    monitoring.use_tool_id(3, "a test")
    try:
        assert monitoring.get_local_events(3, turns.__code__) == 0 and monitoring.get_events(3) == 0
    finally:
        monitoring.free_tool_id(3)


def test_calls_within_each_other_and_exceptions() -> None:
    assert hits(measure(deep, 5)) == {("deep", 1): 6, ("deep", 2): 1, ("deep", 3): 5}
    measured = LineMeasurement()
    measured.add(raising.__code__)
    with measured.running():
        for _ in range(2):
            with pytest.raises(ValueError):
                raising(5)
    assert hits(measured)["raising", 3] == 2 and hits(measured)["raising", 2] == 6


def test_a_frame_that_runs_already_is_measured_from_then_on() -> None:
    measured = LineMeasurement()
    measured.add(sys._getframe().f_code)
    with measured.running():
        value = 1
        for _ in range(4):
            value += 1
    assert max(hits(measured).values()) >= 4 and value == 5


SOURCE = """
def turns(count):
    total = 0
    for number in range(count):
        total += number
    return total

def later(count):
    for number in range(count):
        yield number
"""


@pytest.mark.parametrize("again", [False, True], ids=["first window", "second window"])
def test_code_that_was_compiled_again_is_known_by_what_runs(again: bool) -> None:
    """As ``choose`` has it: from the source of a file, while the script has code objects of its own."""
    names: dict[str, Any] = {}
    exec(compile(SOURCE, "file.py", "exec"), names)
    if again:
        measure(turns, 1)
        names["turns"](1)
    running = names["later"](5)
    next(running)
    measured = LineMeasurement()
    for code in compile(SOURCE, "file.py", "exec").co_consts:
        if hasattr(code, "co_code"):
            measured.add(code)
    with measured.running():
        names["turns"](10)
        names["turns"](10)
        list(running)
    assert hits(measured)["turns", 3] == 20 and hits(measured)["turns", 1] == 2
    assert hits(measured)["later", 1] == 5


def test_a_line_profiler_of_the_scripts_own_has_its_lines_too() -> None:
    measured, own = LineMeasurement(), LineProfiler(turns)
    measured.add(turns.__code__)
    with measured.running():
        monitoring.get_tool(2)
        own.enable_by_count()
        turns(7)
        own.disable_by_count()
        turns(3)
    (lines,) = own.get_stats().timings.values()
    assert max(count for _, count, _ in lines) in (7, 8)


def test_cprofile_takes_the_place_for_profilers() -> None:
    measured, profile = LineMeasurement(), cProfile.Profile()
    measured.add(turns.__code__)
    with measured.running():
        profile.enable()
        turns(2)
        profile.disable()
    assert any("turns" in str(entry.code) for entry in profile.getstats())


def test_where_both_places_are_taken_line_profiler_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitored, "_FREE", ())
    assert hits(measure(turns, 4))["turns", 3] == 4
