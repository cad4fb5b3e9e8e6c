"""A call's site is known again by its instruction, and never taken for another."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

from tfperfkit.instruments.steps.sites import Callers

callers = Callers()


def hook(site: int) -> int | None:
    """Act as the seam: look, and remember where it is not known; returns what was known."""
    known = callers.site(1)
    if known is None:
        callers.remember(sys._getframe(1), own, site)
    return known


def own(name: str) -> bool:
    return name == "script.py"


def library(site: int) -> int | None:
    return inner(site)


def inner(site: int) -> int | None:
    return hook(site)


def _run(source: str, **names: Any) -> Any:
    """Return the values that a script leaves in ``found``; it calls ``library``, which calls the hook."""
    names = {"library": library, "found": [], **names}
    exec(compile(source, "script.py", "exec"), names)
    return names["found"]


def setup_function() -> None:
    callers.known.clear()


def test_a_loop_is_known_after_the_first_turn() -> None:
    assert _run("for _ in range(4):\n    found.append(library(7))\n") == [None, 7, 7, 7]


def test_two_lines_are_two_sites() -> None:
    source = "for _ in range(3):\n    found.append(library(1))\n    found.append(library(2))\n"
    assert _run(source) == [None, None, 1, 2, 1, 2]


def test_one_helper_called_from_two_lines_is_two_sites() -> None:
    """Its code and its instruction are the same, its frame too as far as can be seen; those that called it are not."""
    source = (
        "def helper(site):\n    return library(site)\n"
        "for _ in range(3):\n    found.append(helper(1))\n    found.append(helper(2))\n"
    )
    assert _run(source) == [None, None, 1, 2, 1, 2]


def test_what_recurses_is_reported_by_its_depth() -> None:
    source = (
        "def deep(n):\n    return library(n) if n == 0 else deep(n - 1)\n"
        "for _ in range(2):\n    for depth in range(3):\n        found.append(deep(depth))\n"
    )
    assert _run(source) == [None, None, None, 0, 0, 0]
    assert sorted(len(chain) for _, chain, _ in callers.known) == [2, 3, 4]


def test_so_many_are_remembered_and_no_frame_is_held() -> None:
    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)
    lines = "".join(f"    found.append(library({n}))\n" for n in range(9))
    _run(f"def many(held):\n{lines}many(held)\n", held=held)
    del held
    gc.collect()
    assert gone() is None
    assert len(callers.known) == 4


def test_a_deep_stack_is_looked_up_each_time() -> None:
    source = "def deep(n):\n    return library(1) if n == 0 else deep(n - 1)\nfound.append(deep(30))\n"
    assert [_run(source), _run(source)] == [[None], [None]]
    assert callers.known == []


def test_a_call_without_the_persons_code_is_none() -> None:
    assert [inner(1), inner(1)] == [None, None]
    assert callers.known == []
