"""Decide whether a method that is asked for items by their numbers computes the same for the same number in each epoch.

``dataset[i]`` may come again with other numbers, or with the same ones in another order. The question is put to the
analysis of loops (``iteration``) as a loop that does what an epoch does: it calls the methods that Keras calls, and
asks for item 0. In the method the numbers are constants, so what varies there varies with something else.
"""

from __future__ import annotations

import ast
import copy

from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.iteration import same_in_every_iteration
from tfperfkit.syntax.module import get_file
from tfperfkit.syntax.nodes import FUNCTIONS, find_nodes

_Loop = ast.For | ast.comprehension
#: Methods that Keras calls between items; those of PyDataset itself change nothing of the user's.
_OF_AN_EPOCH = ("on_epoch_begin", "on_epoch_end", "__len__")
_NAME = "_asked_items"


def depends_on_number_only(call: Call, method: Function) -> bool:
    """Return whether a call in ``__getitem__`` gives the same each time for the same number of an item, and for the
    same element in the loops around the call. False if the file does not make exactly one such object."""
    tree = copy.deepcopy(get_file(call).tree)
    there, own = _find_alike(tree, call.node), _find_alike(tree, method.node)
    owner = next((item for item in find_nodes(tree, ast.ClassDef) if own in item.body), None)
    if not isinstance(there, ast.expr) or not isinstance(own, FUNCTIONS) or owner is None or len(own.args.args) < 2:
        return False
    read = {item.attr for item in find_nodes(tree, ast.Attribute) if isinstance(item.ctx, ast.Load)}
    if read & _list_stored_attributes(tree, owner):
        return False
    loops: list[_Loop] = find_nodes(own, ast.For, ast.comprehension)
    for loop in loops:
        if _is_around(loop, there, own):
            loop.iter = ast.Tuple([ast.Constant(0)], ast.Load())
    own.body.insert(0, ast.Assign([ast.Name(own.args.args[1].arg, ast.Store())], ast.Constant(0)))
    epoch = _insert_epoch(tree, owner, own)
    ast.fix_missing_locations(tree)
    return epoch is not None and same_in_every_iteration(tree, there, epoch)


def _insert_epoch(
    tree: ast.Module, owner: ast.ClassDef, method: ast.FunctionDef | ast.AsyncFunctionDef
) -> ast.For | None:
    """Insert a loop that does what an epoch does instead of the statement that makes the only object of a class,
    and of all that follows. The class is left without its base, which changes nothing of the user's, and without
    operators."""
    made = [
        node for node in find_nodes(tree, ast.Call) if isinstance(node.func, ast.Name) and node.func.id == owner.name
    ]
    if len(made) != 1:
        return None
    owner.bases = []
    asked = []
    for item in owner.body:
        if isinstance(item, FUNCTIONS) and item.name != "__init__":
            if item.name in _OF_AN_EPOCH or item is method:
                asked.append(f"    {_NAME}.asked_{item.name}({'0' if item is method else ''})\n")
            item.name = f"asked_{item.name}"
        if isinstance(item, FUNCTIONS):
            item.body = [each for each in item.body if not _is_super_call(each)] or [ast.Pass()]
    first, loop = ast.parse(f"{_NAME} = {ast.unparse(made[0])}\nfor _epoch in range(9):\n{''.join(asked)}").body
    body, index = _find_statement(tree, made[0])
    if body is None or not isinstance(loop, ast.For):
        return None
    body[index:] = [first, loop]
    return loop


def _list_stored_attributes(tree: ast.Module, owner: ast.ClassDef) -> set[str]:
    """List the attributes that code outside of ``__init__`` and of a class stores, or stores elements of."""
    stored: set[str] = set()
    inside = set(find_nodes(owner, ast.AST))
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = find_nodes(tree, *FUNCTIONS)
    for function in functions:
        if function.name == "__init__":
            inside.update(find_nodes(function, ast.AST))
    targets: list[ast.Attribute | ast.Subscript] = find_nodes(tree, ast.Attribute, ast.Subscript)
    for item in targets:
        if item not in inside and not isinstance(item.ctx, ast.Load):
            stored.update(name.attr for name in find_nodes(item, ast.Attribute))
    return stored


def _is_super_call(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith("super().")


def _find_statement(tree: ast.Module, node: ast.AST) -> tuple[list[ast.stmt] | None, int]:
    """Find the innermost list of statements around a node, and the number of the statement that holds the node."""
    found: tuple[list[ast.stmt] | None, int] = (None, 0)
    for holder in find_nodes(tree, ast.AST):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(holder, name, None)
            for index, statement in enumerate(body if isinstance(body, list) else ()):
                if any(item is node for item in find_nodes(statement, ast.AST)):
                    found = body, index
    return found


def _find_alike(tree: ast.AST, node: ast.AST) -> ast.AST | None:
    """Find the node of a copied tree that stands where a node of the original stands."""
    place = _get_place(node)
    return next((item for item in find_nodes(tree, type(node)) if _get_place(item) == place), None)


def _get_place(node: ast.AST) -> tuple[object, ...]:
    return tuple(getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"))


def _is_around(loop: _Loop, node: ast.expr, method: ast.AST) -> bool:
    """Return whether a loop of a method evaluates an expression in its iterations."""
    if isinstance(loop, ast.For):
        return any(item is node for statement in loop.body for item in find_nodes(statement, ast.expr))
    holders = [item for item in find_nodes(method, ast.expr) if loop in getattr(item, "generators", ())]
    inside = any(item is node for holder in holders for item in find_nodes(holder, ast.expr))
    return inside and not any(item is node for item in find_nodes(loop.iter, ast.expr))
