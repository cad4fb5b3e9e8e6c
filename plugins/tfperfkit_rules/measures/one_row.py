"""Decide from the source whether a call gets a batch of one row."""

from __future__ import annotations

import ast

from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_method, get_receiver, is_constant
from tfperfkit_rules.measures.written_sizes import is_single

#: What makes a tensor or an array of a list, which has one element.
_OF_LIST = (
    *(f"tensorflow.{name}" for name in ("constant", "convert_to_tensor", "stack", "Variable")),
    *(f"numpy.{name}" for name in ("array", "asarray", "stack", "vstack")),
)
#: Functions that return the rows as they are.
_KEEPING = ("tensorflow.cast", "tensorflow.identity", "tensorflow.constant", "tensorflow.convert_to_tensor")


def gives_one_row(evidence: Evidence, file: str, line: int, callee: str) -> bool:
    """Whether the call of ``callee``, as the user writes it, at a line has one row as its first argument:
    ``x[None]``, ``x[i : i + 1]``, ``tf.constant([x])``, or a name that only such things are assigned."""
    syntax = evidence.syntax(file)
    here = syntax.calls_at(line) if syntax is not None else []
    found = [call for call in here if ast.unparse(call.func) == callee and call.args]
    return syntax is not None and bool(found) and all(_is_one_row(syntax, call.args[0]) for call in found)


def _is_one_row(syntax: Syntax, node: ast.expr, met: tuple[ast.expr, ...] = ()) -> bool:
    """``met``: what led here, since a name may be assigned what is made of it."""
    if is_single(syntax, node) or (isinstance(node, ast.Subscript) and _is_slice_of_one(node.slice)):
        return True
    if node in met:
        return False
    if isinstance(node, ast.Call):
        name = syntax.name(node.func)
        first = node.args[0] if node.args else None
        if name in _OF_LIST and isinstance(first, ast.List):
            return len(first.elts) == 1
        kept = first if name in _KEEPING else get_receiver(node) if get_method(node) == "astype" else None
        return kept is not None and _is_one_row(syntax, kept, (*met, node))
    bound = syntax.bound_to(node) if isinstance(node, ast.Name) else []
    return bool(bound) and all(_is_one_row(syntax, item, (*met, node)) for item in bound)


def _is_slice_of_one(node: ast.expr) -> bool:
    """``i : i + 1``, of the first axis."""
    part = node.elts[0] if isinstance(node, ast.Tuple) and node.elts else node
    if not isinstance(part, ast.Slice) or part.lower is None or not isinstance(part.upper, ast.BinOp):
        return False
    above = part.upper
    return (
        isinstance(above.op, ast.Add)
        and is_constant(above.right, 1)
        and ast.unparse(above.left) == ast.unparse(part.lower)
    )
