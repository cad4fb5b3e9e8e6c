"""Functions of the user's that change what lives in Python: a compiled function would do that once, while it is
traced, and never again. An environment that is stepped, a replay buffer, a counter."""

from __future__ import annotations

import ast
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.kinds import KINDS
from tfperfkit_rules.measures.source_calls import files
from tfperfkit_rules.measures.source_text import Function

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ENVIRONMENT = next(kind for kind in KINDS if kind.word == "environment")


class PythonState(NamedTuple):
    """Where a function changes such a state. ``line``: of the function's own; ``called``: what that line calls, as the
    user writes it; "" where it makes the change itself. ``environment``: of a library of such."""

    file: str
    line: int
    called: str
    environment: bool = False


def python_state(evidence: Evidence, file: str, function: Function) -> PythonState | None:
    """The first such line of a function; None where there is none that the source shows."""
    syntax = evidence.syntax(file)
    node = _node(syntax, function.line) if syntax is not None else None
    if syntax is None or node is None:
        return None
    defined = [item for _, other in files(evidence) for item in _defined(other)]
    return _changed(file, syntax, node, defined)


def _node(syntax: Syntax, line: int) -> ast.AST | None:
    return next((node for node in ast.walk(syntax.tree) if isinstance(node, _FUNCTIONS) and node.lineno == line), None)


def _defined(syntax: Syntax) -> list[tuple[Syntax, ast.ClassDef | None, ast.AST, str]]:
    """The functions and methods of a file. Not those of classes that derive from a library's: a layer's and a model's
    are there to be compiled."""
    found: list[tuple[Syntax, ast.ClassDef | None, ast.AST, str]] = [
        (syntax, None, node, node.name) for node in ast.iter_child_nodes(syntax.tree) if isinstance(node, _FUNCTIONS)
    ]
    for owner in ast.walk(syntax.tree):
        if isinstance(owner, ast.ClassDef) and not any(_of_library(syntax, base) for base in owner.bases):
            found += [(syntax, owner, node, node.name) for node in owner.body if isinstance(node, _FUNCTIONS)]
    return found


def _of_library(syntax: Syntax, base: ast.expr) -> bool:
    return syntax.name(base).partition(".")[0] in ("tensorflow", "keras")


def _changed(
    file: str,
    syntax: Syntax,
    node: ast.AST,
    defined: list[tuple[Syntax, ast.ClassDef | None, ast.AST, str]],
    seen: frozenset[ast.AST] = frozenset(),
) -> PythonState | None:
    body = sorted((item for item in ast.walk(node) if hasattr(item, "lineno")), key=lambda item: item.lineno)
    for item in body:
        if isinstance(item, (ast.Assign, ast.AugAssign)):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            if any(_is_own_state(syntax, target) for target in targets):
                return PythonState(file, item.lineno, "")
        elif isinstance(item, ast.Call):
            name = syntax.name(item.func)
            if _ENVIRONMENT.wanted.search(name):
                return PythonState(file, item.lineno, ast.unparse(item.func), environment=True)
            if name.partition(".")[0] in ("tensorflow", "keras"):
                continue
            for other, owner, function, named in _meant(item.func, defined):
                before = seen | {node}
                if function not in before and _changed("", other, function, defined, before) is not None:
                    shown = f"{owner.name}.{named}" if owner is not None else named
                    return PythonState(file, item.lineno, shown)
    return None


def _meant(
    called: ast.expr, defined: list[tuple[Syntax, ast.ClassDef | None, ast.AST, str]]
) -> list[tuple[Syntax, ast.ClassDef | None, ast.AST, str]]:
    """The functions that a call may mean: of a name those of a module, of an attribute the methods, where all that have
    this name are of one class."""
    if isinstance(called, ast.Name):
        return [item for item in defined if item[1] is None and item[3] == called.id]
    if isinstance(called, ast.Attribute):
        found = [item for item in defined if item[1] is not None and item[3] == called.attr]
        return found if len({item[1] for item in found}) == 1 else []
    return []


def _is_own_state(syntax: Syntax, target: ast.expr) -> bool:
    """Whether an assignment goes to an attribute of the object itself, or an element of one."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_own_state(syntax, item) for item in target.elts)
    return isinstance(target, ast.Attribute) and syntax.is_self(target.value)
