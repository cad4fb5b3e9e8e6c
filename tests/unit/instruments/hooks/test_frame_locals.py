"""Reading the variables of a running function: nothing of them is kept, and nothing is changed."""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

import pytest

from tfperfkit.instruments.hooks.frame_locals import local, locals_of


class Thing:
    pass


def _frame() -> FrameType:
    return sys._getframe(1)


def test_what_a_variable_held_is_freed_when_it_gets_another_value() -> None:
    def function() -> tuple[bool, bool]:  # without an assert: pytest makes one ask for locals()
        thing: Any = Thing()
        gone = weakref.ref(thing)
        same = local(_frame(), "thing") is thing
        thing = None
        return same, gone() is None

    assert function() == (True, True)


def test_variables_stay_as_they_are() -> None:
    def function(given: int) -> tuple[int, ...]:
        own = 2
        with locals_of(_frame()) as values:
            seen = (values["given"], values["own"])
        return given, own, *seen, local(_frame(), "nothing", 7)

    assert function(1) == (1, 2, 1, 2, 7)


def test_a_modules_names_are_its_own() -> None:
    space: dict[str, Any] = {"read": local, "frame": _frame}
    exec("x = 3\ny = read(frame(), 'x')\nz = x", space)
    assert (space["y"], space["z"]) == (3, 3)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="there locals() is a copy of its own")
def test_the_dictionary_of_a_function_that_asks_for_it_is_left_alone() -> None:
    def function() -> dict[str, Any]:
        own = locals()
        return {**own, "read": local(_frame(), "own")}

    assert function() == {"read": None}


def test_under_a_debugger_variables_survive() -> None:
    def function() -> int:
        own = 5
        seen = [local(_frame(), "own")]
        own += 1
        return own + seen[0]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert function() == 11
    finally:
        sys.settrace(before)
