"""Find where the source makes the tensors and variables that a function reads from outside."""

from __future__ import annotations

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit_rules.measures.source_text import find_function, locate_function

#: Given an array of float64, these make a tensor or a variable of float64.
_MADE = ("tensorflow.Variable", "tensorflow.constant", "tensorflow.convert_to_tensor")
_WIDE = ("float64", "double")


def entrances(evidence: Evidence, file: str, line: int) -> list[SourceSpan]:
    """Return the lines that make what a float64 function reads from outside, from an array or as float64.

    Numbers of plain Python alone make a float32, so their lines are left out.
    """
    syntax, function = evidence.syntax(file), find_function(evidence, file, line)
    if syntax is None or function is None:
        return []
    found: dict[int, None] = {}
    for node in function.parts:
        for made in node.assigned if node.is_plain else ():
            if made.line not in function.lines and isinstance(made, Call) and _makes_float64(made):
                found[made.line] = None
    return [locate_function(evidence, file, at) for at in sorted(found)]


def _makes_float64(call: Call) -> bool:
    if call.name not in _MADE or not call.arguments:
        return False
    dtype = call.get_argument("dtype", None if call.name.endswith("Variable") else 1)
    if dtype is not None:
        return dtype.text.rpartition(".")[2].strip("'\"") in _WIDE
    given = call.arguments[0]
    if isinstance(given, Call) and given.name.startswith("tensorflow."):  # float32 where not told
        return any(word in given.text for word in _WIDE)
    return any(item.kind in ("name", "call") for item in _list_numbers(given))


def _list_numbers(node: Expression) -> list[Expression]:
    """List the parts of an expression that its numbers come from; the names of functions are none."""
    inner = node.arguments if isinstance(node, Call) else node.children
    return [node, *(part for child in inner for part in _list_numbers(child))]
