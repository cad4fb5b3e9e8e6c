"""The words of the end's event about the exception that nobody caught."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tfperfkit.recording import last_error


def shown(monkeypatch: pytest.MonkeyPatch, source: str, library: str) -> dict[str, Any]:
    """Return the words about a ``source`` that ends with an exception; it may call ``library``'s ``call``."""
    names: dict[str, Any] = {}
    exec(compile(library, "/lib/library.py", "exec"), names)
    try:
        exec(compile(source, "/home/train.py", "exec"), names)
    except BaseException as error:
        monkeypatch.setattr(sys, "last_value", error, raising=False)
        monkeypatch.setattr(sys, "last_traceback", error.__traceback__, raising=False)
    return last_error.facts(lambda file: file == "/home/train.py")


FAILS = "def call():\n    raise ValueError('theirs')\n"
SCRIPT = "def train():\n    call()\n\ntrain()\n"


def test_an_exception_from_a_library_has_the_lines_it_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shown(monkeypatch, SCRIPT, FAILS)
    assert found == {"failed": True, "raised": [("/home/train.py", 2), ("/home/train.py", 4)]}


def test_the_scripts_own_exception_and_an_interrupt_tell_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, "call()\nraise ValueError('mine')", "def call(): pass") == {"failed": True}
    assert shown(monkeypatch, SCRIPT, FAILS.replace("ValueError('theirs')", "KeyboardInterrupt")) == {"failed": True}


def test_a_script_that_ends_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys, "last_value", raising=False)
    assert last_error.facts(lambda file: True) == {"failed": False}
