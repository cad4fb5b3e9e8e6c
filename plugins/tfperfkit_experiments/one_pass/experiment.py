"""``one-pass[:FUNCTION]``: a function that is called again with the same arguments while a graph is built gives its
first result again, and gradients go through that; without a function: each layer and model of Keras."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tfperfkit.experiment import Change, Keeps, Trial
from tfperfkit.model import Finding, Report
from tfperfkit_experiments.base import functions
from tfperfkit_experiments.on_function import OnFunction


class OnePass(OnFunction):
    """Random numbers are drawn once, and what was updated between two calls is not seen by the second."""

    name = "one-pass"
    keeps: ClassVar[Keeps] = "nothing"
    usage = "one-pass or one-pass:FUNCTION"
    codes = ("GRF001",)

    def problem(self, change: Change, /) -> str | None:
        """A function, or none."""
        return None if change == Change(self.name) else super().problem(change)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The first function on its lines that the script calls at several places, or in a loop; else Keras' layers."""
        names = repeated({(span.file, span.line) for span in finding.where}, list(functions(finding)))
        for name in [*names, ""][:1]:
            yield Change(self.name, name)

    def edits(self, change: Change, /) -> Iterable[str]:
        """The function, if there is one."""
        return (change.target,) if change.target else ()

    @contextmanager
    def install(self, trial: Trial, change: Change, /) -> Iterator[None]:
        """See ``install``."""
        from tfperfkit_experiments.one_pass.install import install

        with install(trial, not change.target):
            yield

    def decorate(self, trial: Trial, change: Change, function: Any, /) -> Any:
        """See ``install``."""
        from tfperfkit_experiments.one_pass.install import first_stands

        return first_stands(trial, function)


def repeated(places: set[tuple[str, int]], around: list[str]) -> list[str]:
    """Functions of these files that are called on these lines, or are ``around`` them, and are called more than once;
    the innermost first: those that are called there."""
    found: list[str] = []
    for file in sorted({file for file, _ in places}):
        try:
            with open(file, "rb") as stream:
                tree = ast.parse(stream.read())
        except (OSError, ValueError, SyntaxError, RecursionError):
            continue
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        calls = Counter(name for name, _ in _calls(tree))
        looped = (ast.For, ast.While)
        inside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        loops = [loop for function in inside for loop in ast.walk(function) if isinstance(loop, looped)]
        calls.update(name for loop in loops for name, _ in _calls(loop))
        there = [name for name, line in _calls(tree) if (file, line) in places]
        found += [name for name in (*there, *around) if name in defined and calls[name] > 1]
    return list(dict.fromkeys(found))


def _calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if name:
                yield name, node.lineno
