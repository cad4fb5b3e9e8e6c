"""What the source of a whole script says: which functions yield, which are called more than once, which statements can
be left out."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def generators(tree: ast.AST) -> frozenset[str]:
    """The names of the functions that yield by themselves, not in a function inside."""
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and _yields(node))


def _yields(node: ast.AST) -> bool:
    inner = (child for child in ast.iter_child_nodes(node) if not isinstance(child, (*_FUNCTIONS, ast.Lambda)))
    return any(isinstance(child, (ast.Yield, ast.YieldFrom)) or _yields(child) for child in inner)


def repeated_functions(tree: ast.AST, lines: Collection[int], around: Collection[str]) -> list[str]:
    """The functions of this file that are called at several places or in a loop of a function: those that are called on
    these lines first, then those of ``around``."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    loops = [node for function in functions for node in ast.walk(function) if isinstance(node, _LOOPS)]
    calls = Counter(name for part in (tree, *loops) for name, _ in _calls(part))
    defined = {function.name for function in functions}
    called = [name for name, line in _calls(tree) if line in lines]
    return [name for name in dict.fromkeys((*called, *around)) if name in defined and calls[name] > 1]


def _calls(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The (name, line) of each call, a method's by its last name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if name:
                yield name, node.lineno


def can_be_left_out(tree: ast.AST, line: int) -> bool:
    """Whether a statement begins there that is just a call, or an assignment that a loop of its function repeats."""
    return any(_begins_on(node, line, False) for node in ast.iter_child_nodes(tree))


def _begins_on(node: ast.AST, line: int, repeated: bool) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno == line:
        return True
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        return repeated and node.lineno == line
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        repeated = False
    repeated = repeated or isinstance(node, _LOOPS)
    return any(_begins_on(child, line, repeated) for child in ast.iter_child_nodes(node))
