"""The sizes of a library call's arguments, read from a thread that stands still in it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tfperfkit.instruments.stacks.call_sizes import count_rows, find_largest
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.records.samples import CallSize, read_log

#: A library that waits in a function of its own.
LIBRARY = """
def explain(row, background, *more, **named):
    there.set()
    end.wait()
"""


class Odd(list):  # type: ignore[type-arg]
    """A script's own list: its length is the script's code."""

    def __len__(self) -> int:
        raise AssertionError("asked for its length")


def waiting(call: Callable[[Any], None]) -> tuple[list[Any], int]:
    """Return the sampler's rows for a thread that waits in a library's function, and the line of the call."""
    names: dict[str, Any] = {"there": threading.Event(), "end": threading.Event()}
    exec(compile(LIBRARY, "/site-packages/shap/explain.py", "exec"), names)
    thread = threading.Thread(target=call, args=(names["explain"],))
    thread.start()
    names["there"].wait()
    rows: list[Any] = []
    sampler = Sampler(rows.append, lambda name: name == __file__)
    try:
        for when in range(3):
            sampler.take(when, thread.ident or 0)
    finally:
        names["end"].set()
        thread.join()
    return rows, call.__code__.co_firstlineno + 1


def test_the_largest_argument_of_a_library_call_is_recorded_once_for_a_stack() -> None:
    def call(explain: Any) -> None:
        explain([1, 2], np.zeros((6000, 3)), np.zeros(7), labels=list(range(90)))

    rows, line = waiting(call)
    (given,) = [row for row in rows if row[0] == "given"]
    assert given == ["given", __file__, line, "background", 6000]
    assert read_log(rows).given == {(__file__, line): CallSize("background", 6000)}


def test_arguments_without_a_name_have_their_parameter_s() -> None:
    def call(explain: Any) -> None:
        explain(1, Odd([1]), np.zeros((40, 2)), x=[0] * 8)

    rows, _ = waiting(call)
    assert [row[3:] for row in rows if row[0] == "given"] == [["more", 40]]


def test_calls_of_different_sizes_have_none() -> None:
    row = ["given", "a.py", 3, "x", 10]
    assert read_log([row, [*row[:4], 11], ["given", "a.py"]]).given == {}


@pytest.mark.parametrize(
    ("value", "rows"),
    [(np.zeros((5, 2)), 5), (np.float32(3), 0), (np.zeros(()), 0), ((1, 2), 2), (Odd([1]), 0), ({"a": 1}, 0)],
)
def test_only_known_types_are_asked(value: Any, rows: int) -> None:
    assert count_rows(value) == rows


def test_locals_that_the_function_asks_for_are_left_alone() -> None:
    def uses(rows: list[int]) -> FrameType:
        locals()
        return sys._getframe()

    def plain(rows: list[int]) -> FrameType:
        return sys._getframe()

    found = find_largest(plain([1, 2, 3]))
    assert found is not None and found.rows == 3
    assert sys.version_info >= (3, 13) or find_largest(uses([1, 2, 3])) is None
