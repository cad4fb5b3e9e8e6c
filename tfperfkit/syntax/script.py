"""Questions about a whole script: which functions yield, which are called more than once, which statements can be left
out, does it need the name ``profile``."""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Collection, Iterator

from tfperfkit.syntax.nodes import FUNCTIONS, LOOPS, find_nodes, find_own_nodes, get_last_name


def parse_file(file: str) -> ast.Module | None:
    """Parse a script as it is now; None if it can't be read or parsed."""
    try:
        if not os.path.isfile(file):
            return None
        with open(file, "rb") as stream:
            return ast.parse(stream.read())
    except (OSError, ValueError, SyntaxError, RecursionError):
        return None


def generators(tree: ast.AST) -> frozenset[str]:
    """Name the functions that yield by themselves, not in a function inside."""
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = find_nodes(tree, *FUNCTIONS)
    return frozenset(node.name for node in functions if find_own_nodes(node, ast.Yield, ast.YieldFrom))


def repeated_functions(tree: ast.AST, lines: Collection[int], around: Collection[str]) -> list[str]:
    """Name the functions of this file that are called at several places or in a loop of a function: those that are
    called on these lines first, then those of ``around``."""
    functions = find_nodes(tree, ast.FunctionDef)
    loops = [node for function in functions for node in find_nodes(function, *LOOPS)]
    calls = Counter(name for part in (tree, *loops) for name, _ in _calls(part))
    defined = {function.name for function in functions}
    called = [name for name, line in _calls(tree) if line in lines]
    return [name for name in dict.fromkeys((*called, *around)) if name in defined and calls[name] > 1]


def _calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the (name, line) of each call, a method's by its last name."""
    for node in find_nodes(tree, ast.Call):
        if name := get_last_name(node.func):
            yield name, node.lineno


def can_be_left_out(tree: ast.AST, line: int) -> bool:
    """Return whether a statement begins there that is just a call, or an assignment that a loop of its function
    repeats."""
    return any(_begins_on(node, line, False) for node in ast.iter_child_nodes(tree))


def _begins_on(node: ast.AST, line: int, repeated: bool) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno == line:
        return True
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        return repeated and node.lineno == line
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        repeated = False
    repeated = repeated or isinstance(node, LOOPS)
    return any(_begins_on(child, line, repeated) for child in ast.iter_child_nodes(node))


def uses_bare_profile(source: bytes) -> bool:
    """Return whether a script decorates with a bare ``@profile`` that it neither defines nor imports itself."""
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
