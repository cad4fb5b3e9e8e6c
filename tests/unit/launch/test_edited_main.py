"""A script with changed functions is still that script: names, lines, arguments."""

from __future__ import annotations

import builtins
import inspect
import linecache
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.instruments.changes import edited
from tfperfkit.launch import edited_main

SOURCE = b'''"""Words."""
from __future__ import annotations
import inspect, sys
def plain(a): return a
class Thing:
    @staticmethod
    def plain(a): return a + 1
    def other(self):
        print("other")
        x = print("kept")
plain(1)
'''


def run(*edits: str) -> tuple[list[Any], dict[str, Any]]:
    """The functions that were handed to the hook."""
    seen: list[Any] = []
    names: dict[str, Any] = {}
    code = edited_main.compiled(SOURCE, "/a/train.py", edits)

    def hook(name: str) -> Any:
        def decorate(function: Any) -> Any:
            seen.append((name, function))
            return function

        return decorate

    setattr(builtins, edited_main._HOOK, hook)
    setattr(builtins, edited_main._LEFT_OUT, lambda: seen.append("left out"))
    try:
        exec(code, names)
        names["Thing"]().other()
    finally:
        delattr(builtins, edited_main._HOOK)
        delattr(builtins, edited_main._LEFT_OUT)
    return seen, names


def test_functions_by_name() -> None:
    assert [name for name, _ in run("plain")[0]] == ["plain", "plain"]
    ((name, function),) = run("Thing.plain")[0]
    assert name == "Thing.plain" and isinstance(function, staticmethod)
    assert run("absent")[0] == []


def test_lines_stay() -> None:
    _, names = run("plain")
    assert names["plain"].__code__.co_firstlineno == 4
    assert names["Thing"].other.__code__.co_firstlineno == 8
    assert names["plain"].__annotations__ == {}


def test_a_call_of_its_own_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train.py:9")[0] == ["left out"]
    assert capsys.readouterr().out == "kept\n"
    assert run("a/train.py:9")[0] == ["left out"]
    assert run("train.py:10")[0] == []  # an assignment that no loop repeats stays
    assert run("other.py:9")[0] == []


def test_an_assignment_in_a_loop_is_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited, "_left", [lambda: left.append(1)])
    monkeypatch.setattr(edited, "_times", {})
    left: list[int] = []
    source = b"""
def count(turns):
    rows = []
    for turn in range(turns):
        row = (turn,
               0)
        rows.append(row)
    return rows
"""
    names: dict[str, Any] = {}
    monkeypatch.setattr(builtins, edited_main._AGAIN, edited_main._is_assignment_made, raising=False)
    exec(edited_main.compiled(source, "/a/train.py", ["train.py:5"]), names)
    assert names["count"](4) == [(0, 0), (1, 0), (1, 0), (1, 0)] and left == [1, 1]


def test_as_a_program(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import sys, helper\nprint(__name__, sys.argv[1:], sys.path[0], __file__)\nhelper.step()\n")
    (tmp_path / "helper.py").write_text("def step():\n    print('step')\n    raise SystemExit(3)\n")
    launcher = [sys.executable, edited_main.__file__, "step", "--"]
    done = subprocess.run([*launcher, str(script), "a", "-b"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 3, done.stderr
    assert done.stdout == f"__main__ ['a', '-b'] {tmp_path} {script}\nstep\n"
    done = subprocess.run([*launcher, "-m", "train", "c"], capture_output=True, text=True, timeout=200, cwd=tmp_path)
    assert done.stdout.splitlines()[0].startswith("__main__ ['c']")


def test_who_reads_the_source_again_finds_what_was_compiled() -> None:
    source = b"import inspect\ndef step():\n    print(\n        'x'\n    )\n    return 1\n"
    names: dict[str, Any] = {}
    exec(edited_main.compiled(source, "/a/b.py", ["b.py:3"]), names)
    try:
        assert inspect.getsource(names["step"]) == f"def step():\n    {edited_main._LEFT_OUT}()\n\n\n    return 1\n"
    finally:
        linecache.cache.pop("/a/b.py", None)
