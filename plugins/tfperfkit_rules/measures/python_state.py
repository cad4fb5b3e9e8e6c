"""Functions of the user's that change what lives in Python: a compiled function would do that once, while it is
traced, and never again. An environment that is stepped, a replay buffer, a counter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import find_nodes, get_last_name
from tfperfkit_rules.measures.kinds import KINDS
from tfperfkit_rules.measures.source_calls import files

_ENVIRONMENT = next(kind for kind in KINDS if kind.word == "environment")


class PythonState(NamedTuple):
    """Where a function changes such a state. ``line``: of the function's own; ``called``: what that line calls, as the
    user writes it; "" where it makes the change itself. ``environment``: of a library of such."""

    file: str
    line: int
    called: str
    environment: bool = False


class _Defined(NamedTuple):
    """A function of a file, and the class whose method it is."""

    syntax: Syntax
    owner: ast.ClassDef | None
    function: Function


def python_state(evidence: Evidence, file: str, function: Function) -> PythonState | None:
    """The first such line of a function; None where there is none that the source shows."""
    syntax = evidence.syntax(file)
    if syntax is None:
        return None
    defined = [item for _, other in files(evidence) for item in _list_defined(other)]
    return _find_change(file, syntax, function, defined)


def _list_defined(syntax: Syntax) -> Iterator[_Defined]:
    """List the functions and methods of a file, without methods of classes that derive from a library's: those of a
    layer or a model are there to be compiled."""
    for function in syntax.functions:
        owner = syntax.parents.get(function.node)
        if isinstance(owner, ast.Module):
            yield _Defined(syntax, None, function)
        elif isinstance(owner, ast.ClassDef) and not any(_of_library(syntax, base) for base in owner.bases):
            yield _Defined(syntax, owner, function)


def _of_library(syntax: Syntax, base: ast.expr) -> bool:
    return syntax.name(base).partition(".")[0] in ("tensorflow", "keras")


def _find_change(
    file: str, syntax: Syntax, function: Function, defined: list[_Defined], seen: frozenset[ast.AST] = frozenset()
) -> PythonState | None:
    """Find the first statement of a function that changes such a state, by itself or through what it calls."""
    body: list[ast.stmt | ast.expr] = [*find_nodes(function.node, ast.stmt), *find_nodes(function.node, ast.Call)]
    for item in sorted(body, key=lambda item: item.lineno):
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
            before = seen | {function.node}
            for other in _find_meant(item.func, defined):
                if other.function.node not in before and _find_change(
                    "", other.syntax, other.function, defined, before
                ):
                    shown = f"{other.owner.name}." if other.owner is not None else ""
                    return PythonState(file, item.lineno, f"{shown}{other.function.name}")
    return None


def _find_meant(called: ast.expr, defined: list[_Defined]) -> list[_Defined]:
    """The functions that a call may mean: for a name those of a module, for an attribute the methods, if all methods of
    this name are of one class."""
    named = [item for item in defined if item.function.name == get_last_name(called)]
    if isinstance(called, ast.Name):
        return [item for item in named if item.owner is None]
    methods = [item for item in named if item.owner is not None]
    return methods if len({item.owner for item in methods}) == 1 else []


def _is_own_state(syntax: Syntax, target: ast.expr) -> bool:
    """Whether an assignment goes to an attribute of the object itself, or an element of one."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_own_state(syntax, item) for item in target.elts)
    return isinstance(target, ast.Attribute) and syntax.is_self(target.value)
