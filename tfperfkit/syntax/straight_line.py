"""The calls between two calls of one block of statements."""

from __future__ import annotations

import ast

from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import get_file
from tfperfkit.syntax.nodes import find_nodes

_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)


def list_calls_between(first: Call, second: Call) -> list[Call] | None:
    """List the calls that may run after one call and before another: those of the statements in between, and the others
    of the two statements. None if the calls are not in simple statements of one block, in this order."""
    statements = [_find_statement(first), _find_statement(second)]
    block = _find_block(statements[0], get_file(first).tree) if statements[0] is not None else []
    if not all(item in block for item in statements):
        return None
    begin, end = (next(n for n, item in enumerate(block) if item is one) for one in statements)
    if begin >= end:
        return None
    nodes = [node for item in block[begin : end + 1] for node in find_nodes(item, ast.Call)]
    own = {first.node, second.node}
    return [get_file(first).wrap(node) for node in nodes if node not in own]


def _find_statement(call: Call) -> ast.stmt | None:
    """Find the statement that a call is in, if it is a simple one: no condition, no loop, no ``lambda``."""
    parents = get_file(call).parents
    node: ast.AST | None = call.node
    while node is not None and not isinstance(node, ast.stmt):
        node = parents.get(node)
        if isinstance(node, (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension, ast.GeneratorExp)):
            return None
    return node if isinstance(node, _SIMPLE) else None


def _find_block(statement: ast.stmt, tree: ast.Module) -> list[ast.stmt]:
    """Find the list of statements that holds a statement."""
    for holder in find_nodes(tree, ast.AST):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(holder, name, None)
            if isinstance(block, list) and any(item is statement for item in block):
                return block
    return []
