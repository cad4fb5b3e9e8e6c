"""Questions about one node of a syntax tree: the nodes inside, the names that it reads and binds, its text."""

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

    A function or class that is defined in the body is found, but nothing inside it.
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
    """List the names in a node, read or bound."""
    return {item.id for item in find_nodes(node, ast.Name)}


def get_last_name(node: ast.AST | None) -> str:
    """Return the last word of a name or an attribute: ``fit`` of ``model.fit``; "" for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def get_lines(node: ast.stmt | ast.expr | ast.excepthandler) -> range:
    """Return the lines that a node has a part of."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
