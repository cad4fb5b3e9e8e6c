"""Decide whether a call returns the same each time: its arguments are constants, and the function reads nothing else.

Constants are literals, arithmetic on them and names that the file binds once, to constants. The function may call what
the table of effects knows to follow from its arguments alone, and other functions of this kind. The analysis of loops
(``iteration``) can't answer this: what a call returns goes on to code that it does not know, and may be changed there.
"""

from __future__ import annotations

import ast

from tfperfkit.syntax.effects import find_effect
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax, get_file
from tfperfkit.syntax.nodes import find_nodes

#: Code in a function whose result does not follow from its arguments alone.
_OTHER = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef)
_FREE = frozenset({"pure", "attribute", "calls", "consumes"})


def returns_same(call: Call, function: Function) -> bool:
    """Return whether a call of a function, maybe in another file, returns the same each time."""
    return all(map(_is_constant, call.given)) and _is_only_function(function) and _follows_from_arguments(function, ())


def _is_only_function(function: Function) -> bool:
    """Return whether its name stands for this function alone, at the file's top."""
    only = get_file(function).find_only_function(function.name) == function
    return only and function.is_at_top and not _count_bindings(get_file(function), function.name)


def _count_bindings(syntax: Syntax, name: str) -> int:
    """Count how often a file binds a name, in whatever scope."""
    stored = sum(item.text == name for item in syntax.find_expressions("name") if not item.is_read)
    return stored + sum(node.arg == name for node in syntax.find_nodes(ast.arg))


def _is_constant(node: Expression) -> bool:
    if node.kind in ("tuple", "operation"):
        return all(map(_is_constant, node.children))
    if node.kind == "name":
        assigned = node.assigned
        return len(assigned) == 1 and _count_bindings(get_file(node), node.text) == 1 and _is_constant(assigned[0])
    return node.is_constant() or (node.kind == "attribute" and _is_known(node.api))


def _follows_from_arguments(function: Function, around: tuple[Function, ...]) -> bool:
    if function.decorators or not all(map(_is_constant, function.defaults)):
        return False
    if any(item.kind == "attribute" and not item.is_read for item in function.parts):
        return False
    if find_nodes(function.node, *_OTHER):
        return False
    own = function.bound_names | {node.arg for node in find_nodes(function.node, ast.arg)}
    inside = [part for part in function.body_parts if part.root.kind == "name" and part.root.text not in own]
    whole: dict[Expression, Expression] = {}
    for part in inside:
        if part.is_plain and part.dotted:
            whole.setdefault(part.root, part)  # outer ones come first
    return all(_reads_constant(name, read, (*around, function)) for name, read in whole.items())


def _reads_constant(name: Expression, read: Expression, around: tuple[Function, ...]) -> bool:
    if _is_known(read.api) or _is_constant(name):
        return True
    function = get_file(name).find_only_function(name.text)
    if function is None or not _is_only_function(function):
        return False
    return function in around or _follows_from_arguments(function, around)


def _is_known(name: str) -> bool:
    """Return whether an API reads and changes nothing but its arguments."""
    effect = find_effect(name)
    return effect is not None and all(kind in _FREE or kind.startswith("out:") for kind in effect.kinds)
