"""Where the tensors and variables are made that a function reads from around it, by the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.source_text import enclosing, function_span

#: Of an array in NumPy's double precision they make a tensor or a variable in it.
_MADE = ("tensorflow.Variable", "tensorflow.constant", "tensorflow.convert_to_tensor")
_WIDE = ("float64", "double")


def entrances(evidence: Evidence, file: str, line: int) -> list[SourceSpan]:
    """Of a function all of whose numbers are float64: the lines that make what it reads of names around it, or of its
    object, from an array or as float64. Python's own numbers alone make a float32."""
    syntax, function = evidence.syntax(file), enclosing(evidence, file, line)
    if syntax is None or function is None:
        return []
    found: dict[int, None] = {}
    for node in ast.walk(syntax.tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and function.line <= node.lineno <= function.last:
            for made in syntax.bound_to(node):
                outside = not function.line <= made.lineno <= function.last
                if outside and isinstance(made, ast.Call) and _is_wide(syntax, made):
                    found[made.lineno] = None
    return [function_span(evidence, file, at) for at in sorted(found)]


def _is_wide(syntax: Syntax, call: ast.Call) -> bool:
    if syntax.name(call.func) not in _MADE or not call.args:
        return False
    dtype = next((word.value for word in call.keywords if word.arg == "dtype"), None)
    if dtype is None and len(call.args) > 1 and not syntax.name(call.func).endswith("Variable"):
        dtype = call.args[1]
    if dtype is not None:
        return ast.unparse(dtype).rpartition(".")[2].strip("'\"") in _WIDE
    given = call.args[0]
    if isinstance(given, ast.Call) and syntax.name(given.func).startswith("tensorflow."):  # float32 where not told
        return any(word in ast.unparse(given) for word in _WIDE)
    return any(isinstance(item, (ast.Name, ast.Call)) for item in _numbers(given))


def _numbers(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression that numbers come from: no function's own name."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
            yield from _numbers(child)
