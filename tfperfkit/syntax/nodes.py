"""Questions about one node of a syntax tree: what stands in it, which names it reads and binds, what it is as text."""

from __future__ import annotations

import ast
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def find_nodes(inside: ast.AST, *kinds: type[Node]) -> list[Node]:
    """Find the nodes of these kinds in a node, itself included; outer ones come before inner ones."""
    return [node for node in ast.walk(inside) if isinstance(node, kinds)]


def find_own_nodes(function: ast.AST, *kinds: type[Node]) -> list[Node]:
    """Find the nodes of these kinds in the body of a function, in the order of the source.

    A function or class that is defined in the body is found, but nothing inside of it.
    """
    body: list[ast.AST] | ast.AST = getattr(function, "body", [])
    pending: list[ast.AST] = list(reversed(body)) if isinstance(body, list) else [body]
    found = []
    while pending:
        node = pending.pop()
        if isinstance(node, kinds):
            found.append(node)
        if not isinstance(node, SCOPES):
            pending += reversed(list(ast.iter_child_nodes(node)))
    return found


def list_returned(definition: ast.AST) -> list[ast.expr | None]:
    """List what the ``return`` statements of a definition return; None for a bare ``return``."""
    if isinstance(definition, ast.Lambda):
        return [definition.body]
    return [node.value for node in find_own_nodes(definition, ast.Return)]


def list_names(node: ast.AST) -> set[str]:
    """List the names that stand in a node, read or bound."""
    return {item.id for item in find_nodes(node, ast.Name)}


def list_read_names(node: ast.AST) -> set[str]:
    """List the names that a node reads."""
    return {item.id for item in find_nodes(node, ast.Name) if isinstance(item.ctx, ast.Load)}


def list_bound_names(node: ast.AST) -> set[str]:
    """List the names that a node assigns to or deletes; the names of parameters are not among them."""
    return {item.id for item in find_nodes(node, ast.Name) if not isinstance(item.ctx, ast.Load)}


def get_last_name(node: ast.AST | None) -> str:
    """The last word of a name or an attribute: ``fit`` of ``model.fit``; "" for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def get_argument(call: ast.Call | None, name: str, position: int | None = None) -> ast.expr | None:
    """What a call passes for a parameter, by its keyword or else at a position; None if the call does not show it."""
    if call is None:
        return None
    named = next((word.value for word in call.keywords if word.arg == name), None)
    if named is not None or position is None:
        return named
    before = call.args[: position + 1]
    return (
        before[position]
        if len(before) > position and not any(isinstance(item, ast.Starred) for item in before)
        else None
    )


def get_receiver(call: ast.AST | None) -> ast.expr | None:
    """The object that a call calls a method of: ``model`` of ``model.fit(x)``; None if it calls anything else."""
    return call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def get_method(call: ast.AST | None) -> str:
    """The method that a call calls: ``fit`` of ``model.fit(x)``; "" if it calls anything else."""
    return call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""


def get_lines(node: ast.stmt | ast.expr | ast.excepthandler) -> range:
    """The lines that a node has a part of."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def is_constant(node: ast.AST | None, *values: object) -> bool:
    """Whether an expression is one of these constants; 1 is neither True nor 1.0."""
    return isinstance(node, ast.Constant) and any(
        type(node.value) is type(value) and node.value == value for value in values
    )
