"""The source loops around a line: statements and comprehensions of the function that the line is in."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Span = tuple[int, int, int, int]  # line, last line, column, end column; columns in bytes of UTF-8, as Python's own
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class SourceLoops:
    """Of one file, given as its lines (with or without their ends); a file that can't be parsed has none."""

    def __init__(self, lines: Sequence[str]) -> None:
        #: (first, last) of each function, and (first, last, first line of its function) of each loop.
        self._scopes: list[tuple[int, int]] = []
        self._loops: list[tuple[int, int, int]] = []
        try:
            self._visit(ast.parse("\n".join(line.rstrip("\r\n") for line in lines)), 0)
        except (SyntaxError, ValueError, RecursionError):
            self._scopes, self._loops = [], []

    def around(self, line: int) -> list[int]:
        """Return the lines at which the loops around a line begin, outermost first. Only the loops of the innermost
        function around it: they alone repeat the line within one call."""
        scopes = [(end - begin, begin) for begin, end in self._scopes if begin <= line <= end]
        scope = min(scopes)[1] if scopes else 0
        return [begin for begin, end, owner in self._loops if owner == scope and begin <= line <= end]

    def _visit(self, node: ast.AST, scope: int) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, _SCOPES):
                decorators = getattr(child, "decorator_list", [])
                inner = min([child.lineno, *(item.lineno for item in decorators)])
                self._scopes.append((inner, child.end_lineno or child.lineno))
            elif isinstance(child, _LOOPS):
                self._loops.append((child.lineno, child.end_lineno or child.lineno, scope))
            self._visit(child, inner)


def get_span(node: ast.expr | ast.stmt) -> Span:
    """Return (line, last line, column, end column) of a node; lines from 1, columns in bytes of UTF-8."""
    return node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or node.col_offset


def contains_span(outer: Span, inner: Span) -> bool:
    """Return whether an expression's place lies within another's."""
    return (outer[0], outer[2]) <= (inner[0], inner[2]) and (inner[1], inner[3]) <= (outer[1], outer[3])


@lru_cache(maxsize=512)
def source_loops(lines: tuple[str, ...]) -> SourceLoops:
    """Return the loops of a file that several ask about."""
    return SourceLoops(lines)
