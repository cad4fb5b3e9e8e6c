"""Find loops that take one gradient for each number of a tensor: together these are the tensor's jacobian."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.loop import Loop, LoopHead
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import find_nodes, get_method, get_receiver, list_names
from tfperfkit_rules.measures.step_place import TAPE


class JacobianRows(NamedTuple):
    """``line``: takes a gradient in each iteration; ``tensor``: whose numbers; ``sources``: by what, as written."""

    line: int
    tape: str
    tensor: str
    sources: str


def jacobian_rows(evidence: Evidence, file: str, lines: range) -> JacobianRows | None:
    """Find the first such loop in these lines of a file; None without one."""
    syntax = evidence.syntax(file)
    if syntax is None:
        return None
    found = (row for loop in syntax.loops if loop.line in lines for row in _find_rows(syntax, loop))
    return next(found, None)


def _find_rows(syntax: Syntax, loop: Loop) -> Iterator[JacobianRows]:
    """Find ``tape.gradient(y[i], x)`` in a loop, for a tape made before it and sources that stay the same."""
    if loop.node is None or loop.head is None:
        return
    made = [item.optional_vars for item in find_nodes(loop.node, ast.withitem) if item.optional_vars is not None]
    for call in find_nodes(loop.node, ast.Call):
        owner = get_receiver(call)
        if get_method(call) != "gradient" or len(call.args) < 2 or owner is None or syntax.name(owner) != f"{TAPE}()":
            continue
        tape, (target, sources) = ast.unparse(owner), call.args[:2]
        tensor = _find_tensor(syntax, target, loop.head, set(loop.names))
        inside = any(ast.unparse(item) == tape for item in made)
        if tensor is not None and list_names(sources).isdisjoint(loop.names) and not inside:
            yield JacobianRows(call.lineno, tape, ast.unparse(tensor), ast.unparse(sources))


def _find_tensor(syntax: Syntax, target: ast.expr, head: LoopHead, names: set[str]) -> ast.expr | None:
    """Find the tensor of which the target is one number, chosen by the iteration; None for losses of their own."""
    if isinstance(target, ast.Subscript):
        return target.value if list_names(target.slice) & names else None
    if not isinstance(target, ast.Name) or not isinstance(head.target, ast.Name) or target.id != head.target.id:
        return None
    for made in syntax.bound_to(head.iter):
        if isinstance(made, ast.ListComp) and isinstance(made.elt, ast.Subscript):
            return made.elt.value
        if isinstance(made, ast.Call) and syntax.name(made.func) == "tensorflow.unstack" and made.args:
            return made.args[0]
    return None
