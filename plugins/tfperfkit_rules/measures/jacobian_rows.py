"""Loops that take one gradient for each number of a tensor, by the source: together they are its jacobian."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.step_place import TAPE


class JacobianRows(NamedTuple):
    """The line that takes a gradient at each turn, of which tensor's numbers, by which sources, as they are written."""

    line: int
    tape: str
    tensor: str
    sources: str


def jacobian_rows(evidence: Evidence, file: str, lines: range) -> JacobianRows | None:
    """The first such loop in these lines of a file, None without one."""
    syntax = evidence.syntax(file)
    if syntax is None:
        return None
    for node in ast.walk(syntax.tree):
        if isinstance(node, (ast.For, ast.ListComp, ast.GeneratorExp)) and node.lineno in lines:
            found = next(_rows(syntax, node), None)
            if found is not None:
                return found
    return None


def _rows(syntax: Syntax, loop: ast.For | ast.ListComp | ast.GeneratorExp) -> Iterator[JacobianRows]:
    """``tape.gradient(y[i], x)`` in it, of a tape that was made before, by sources that stay the same."""
    over = loop if isinstance(loop, ast.For) else loop.generators[0]
    names = {item.id for item in ast.walk(over.target) if isinstance(item, ast.Name)}
    made = {item for item in ast.walk(loop) if isinstance(item, ast.withitem)}
    for call in ast.walk(loop):
        if not isinstance(call, ast.Call) or len(call.args) < 2 or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr != "gradient" or syntax.name(call.func.value) != f"{TAPE}()":
            continue
        tape, (target, sources) = ast.unparse(call.func.value), call.args[:2]
        of = _tensor(syntax, target, over, names)
        used = {item.id for item in ast.walk(sources) if isinstance(item, ast.Name)}
        inside = any(item.optional_vars is not None and ast.unparse(item.optional_vars) == tape for item in made)
        if of is not None and not used & names and not inside:
            yield JacobianRows(call.lineno, tape, ast.unparse(of), ast.unparse(sources))


def _tensor(syntax: Syntax, target: ast.expr, over: ast.For | ast.comprehension, names: set[str]) -> ast.expr | None:
    """Of which tensor the target is one number, by the turn of the loop; None for losses of their own."""
    if isinstance(target, ast.Subscript):
        by = {item.id for item in ast.walk(target.slice) if isinstance(item, ast.Name)}
        return target.value if by & names else None
    if not isinstance(target, ast.Name) or not isinstance(over.target, ast.Name) or target.id != over.target.id:
        return None
    for made in syntax.bound_to(over.iter):
        if isinstance(made, ast.ListComp) and isinstance(made.elt, ast.Subscript):
            return made.elt.value
        if isinstance(made, ast.Call) and syntax.name(made.func) == "tensorflow.unstack" and made.args:
            return made.args[0]
    return None
