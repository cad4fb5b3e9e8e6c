"""Find functions of the user that change what lives in Python: an environment, a replay buffer, a counter.

A compiled function would do that once, while it is traced, and never again. The question is what a function surely
changes, in any file that it calls. The analysis of loops (``syntax.iteration``) answers another one: what surely stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.kinds import KINDS
from tfperfkit_rules.measures.source_calls import list_files

_ENVIRONMENT = next(kind for kind in KINDS if kind.word == "environment")
_LIBRARIES = ("tensorflow", "keras")


class PythonState(NamedTuple):
    """The place where a function changes Python state. ``line``: of the function's own; ``called``: what that line
    calls, as the user writes it; "" if it makes the change itself. ``environment``: of a library of such."""

    file: str
    line: int
    called: str
    environment: bool = False


def find_python_state(evidence: Evidence, file: str, function: Function) -> PythonState | None:
    """Find the first such line of a function; None if the source shows none."""
    return _find_change(file, function, [item for _, other in list_files(evidence) for item in _list_callable(other)])


def _list_callable(syntax: Syntax) -> Iterator[Function]:
    """List the functions and methods of a file, without methods of classes that derive from a library's: those of a
    layer or a model are there to be compiled."""
    for function in syntax.functions:
        if function.is_at_top or (function.owner and not _is_of_library(function.bases)):
            yield function


def _is_of_library(bases: list[Expression]) -> bool:
    return any(base.api.partition(".")[0] in _LIBRARIES for base in bases)


def _find_change(
    file: str, function: Function, defined: list[Function], seen: frozenset[object] = frozenset()
) -> PythonState | None:
    """Find the first line of a function that changes such a state, by itself or through what it calls."""
    changes = [
        PythonState(file, item.line, "")
        for item in function.assignments
        if any(_is_own_state(target) for target in item.targets)
    ]
    first = min((change.line for change in changes), default=function.last + 1)
    before = seen | {function.node}
    for call in sorted(function.calls, key=lambda call: call.line):
        if call.line >= first:
            break
        if _ENVIRONMENT.wanted.search(call.name):
            return PythonState(file, call.line, call.function.text, environment=True)
        if call.name.partition(".")[0] in _LIBRARIES:
            continue
        for other in _find_called(call.function, defined):
            if other.node not in before and _find_change("", other, defined, before):
                return PythonState(file, call.line, f"{other.owner}.{other.name}" if other.owner else other.name)
    return next((change for change in changes if change.line == first), None)


def _find_called(called: Expression, defined: list[Function]) -> list[Function]:
    """Find the functions that a call may mean: for a name those of a module, for an attribute the methods, if all
    methods of this name are of one class."""
    named = [item for item in defined if item.name == called.last_name]
    if called.kind == "name":
        return [item for item in named if not item.owner]
    methods = [item for item in named if item.owner]
    return methods if len({(id(item.file), item.owner) for item in methods}) == 1 else []


def _is_own_state(target: Expression) -> bool:
    """Whether an assignment goes to an attribute of the object itself, or an element of one."""
    while target.index is not None and target.owner is not None:
        target = target.owner
    if target.items:
        return any(map(_is_own_state, target.items))
    return target.kind == "attribute" and target.owner is not None and target.owner.is_self
