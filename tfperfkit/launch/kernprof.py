"""Detect scripts written for kernprof, which need its ``profile`` in builtins."""

from __future__ import annotations

import ast

from tfperfkit.syntax.nodes import find_nodes


def uses_bare_profile(source: bytes) -> bool:
    """Whether a script decorates with a bare ``@profile`` that it neither defines nor imports itself."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return False
    decorated = False
    for node in find_nodes(tree, ast.AST):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name == "profile":
                return False
            decorated = decorated or any(isinstance(d, ast.Name) and d.id == "profile" for d in node.decorator_list)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            if any((alias.asname or alias.name) == "profile" for alias in node.names):
                return False
        elif isinstance(node, ast.Name) and node.id == "profile" and isinstance(node.ctx, (ast.Store, ast.Load)):
            if isinstance(node.ctx, ast.Store):
                return False
        elif isinstance(node, ast.Constant) and node.value == "profile":
            return False  # the script asks whether the name exists, e.g. "profile" in globals()
    return decorated
