"""Find the control statements of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfperfkit.syntax.function import Function
from tfperfkit.syntax.nodes import COMPREHENSIONS, find_own_nodes

_WORDS: dict[type[ast.AST], str] = {
    ast.For: "for",
    ast.While: "while",
    ast.If: "if",
    ast.IfExp: "if",
    **dict.fromkeys(COMPREHENSIONS, "comprehension"),
}


@dataclass(frozen=True)
class ControlStatement:
    """``word``: for, while, if, comprehension. ``first``, ``last``: the lines of its body, both included. ``skips``: an
    ``if`` without ``else`` that only continues with the next iteration."""

    line: int
    word: str
    function: str
    first: int
    last: int
    skips: bool = False

    @property
    def is_loop(self) -> bool:
        """Return whether its body may run several times."""
        return self.word != "if"


def find_control_statements(function: Function) -> Iterator[ControlStatement]:
    """Find the control statements of a function, without those of functions inside it."""
    for node in find_own_nodes(function.node, ast.stmt, ast.expr):
        word = _WORDS.get(type(node))
        if word is None:
            continue
        body = getattr(node, "body", None)
        inside: list[Any] = body if isinstance(body, list) else [node]
        if isinstance(node, ast.If):
            inside = [*inside, *node.orelse]
        first, last = min(each.lineno for each in inside), max(each.end_lineno or 0 for each in inside)
        yield ControlStatement(getattr(node, "lineno", 0), word, function.name, first, last, _skips(node))


def _skips(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.If) and not node.orelse and len(node.body) == 1 and isinstance(node.body[0], ast.Continue)
    )
