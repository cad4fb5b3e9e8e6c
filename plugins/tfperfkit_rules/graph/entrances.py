"""Find where the source makes the tensors and variables that a function reads from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_argument
from tfperfkit_rules.measures.source_text import enclosing, function_span

#: Given an array of float64, these make a tensor or a variable of float64.
_MADE = ("tensorflow.Variable", "tensorflow.constant", "tensorflow.convert_to_tensor")
_WIDE = ("float64", "double")


def entrances(evidence: Evidence, file: str, line: int) -> list[SourceSpan]:
    """Return the lines that make what a float64 function reads from outside, from an array or as float64.

    Numbers of plain Python alone make a float32, so their lines are left out.
    """
    syntax, function = evidence.syntax(file), enclosing(evidence, file, line)
    if syntax is None or function is None:
        return []
    found: dict[int, None] = {}
    for node in syntax.find_nodes(ast.Name, ast.Attribute):
        for made in syntax.bound_to(node) if node.lineno in function.lines else ():
            if made.lineno not in function.lines and isinstance(made, ast.Call) and _makes_float64(syntax, made):
                found[made.lineno] = None
    return [function_span(evidence, file, at) for at in sorted(found)]


def _makes_float64(syntax: Syntax, call: ast.Call) -> bool:
    if syntax.name(call.func) not in _MADE or not call.args:
        return False
    dtype = get_argument(call, "dtype", None if syntax.name(call.func).endswith("Variable") else 1)
    if dtype is not None:
        return ast.unparse(dtype).rpartition(".")[2].strip("'\"") in _WIDE
    given = call.args[0]
    if isinstance(given, ast.Call) and syntax.name(given.func).startswith("tensorflow."):  # float32 where not told
        return any(word in ast.unparse(given) for word in _WIDE)
    return any(isinstance(item, (ast.Name, ast.Call)) for item in _list_numbers(given))


def _list_numbers(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that its numbers come from; the names of functions are none."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
            yield from _list_numbers(child)
