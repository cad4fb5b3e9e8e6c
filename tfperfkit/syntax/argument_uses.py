"""Find how a function uses an argument: does it compute with it, count or select with it, compare it, or need Python's
own value.

If the argument is passed on to a function of the same file or to a method of the same class, its uses count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.syntax.call import bind_arguments
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import get_file
from tfperfkit.syntax.signatures import takes_whole_number

#: So many functions an argument is followed into, from the first one inwards: few programs go deeper.
_DEEPEST = 4
#: Modules whose functions take Python's own numbers only.
_PYTHON = ("builtins.", "math.", "numpy.")
_Around = tuple[ast.AST, ...]


class Uses(NamedTuple):
    """How a function uses an argument: lines that compute with it, that count or select, that need Python's number, and
    that compare it with another value, whose dtype a tensor would have to have."""

    computes: tuple[int, ...]
    counts: tuple[int, ...]
    python: tuple[int, ...]
    compares: tuple[int, ...]


def find_uses(function: Function, name: str, depth: int = 0) -> Uses:
    """Find the lines of each use of an argument, by what is around it."""
    computes, counts, python, compares = set[int](), set[int](), set[int](), set[int]()
    for node, parents in _find_reads(function, name):
        around = _find_purpose(node, parents)
        if isinstance(around, ast.JoinedStr | ast.FormattedValue):
            python.add(node.lineno)
        elif isinstance(around, ast.Subscript):
            counts.add(node.lineno)
        elif isinstance(around, ast.Compare):
            others = [each for each in (around.left, *around.comparators) if each not in (node, *parents)]
            if not all(isinstance(each, ast.Constant) for each in others):
                compares.add(node.lineno)
        elif isinstance(around, ast.If | ast.While | ast.IfExp | ast.BoolOp):
            continue  # as well with a float
        elif isinstance(around, ast.Call):
            called = function.file.name(around.func)
            inner, parameter = _find_parameter(function, around, (node, *parents))
            if inner is not None and depth < _DEEPEST:
                found = find_uses(inner, parameter, depth + 1)
                computes.update(found.computes)
                counts.update(found.counts)
                python.update(found.python)
                compares.update(found.compares)
            elif called == "builtins.range" and any(
                isinstance(each, ast.For) and each.iter is around for each in parents
            ):
                counts.add(node.lineno)  # AutoGraph makes it a loop of the graph
            elif called.startswith(_PYTHON):
                python.add(node.lineno)
            elif any(takes_whole_number(called, around, item) for item in (node, *parents)):
                counts.add(node.lineno)
            elif called != "tensorflow.cast":
                computes.add(node.lineno)
        else:
            computes.add(node.lineno)
    return Uses(*(tuple(sorted(lines)) for lines in (computes, counts, python, compares)))


def selects_from_tensors(function: Function, name: str, depth: int = 0) -> bool:
    """Return whether all that an argument selects from is a tensor by the source. A tensor can't select from a list."""
    for node, parents in _find_reads(function, name):
        around = _find_purpose(node, parents)
        if isinstance(around, ast.Subscript):
            base = function.file.wrap(around.value).api
            if not (isinstance(around.slice, ast.Tuple) or base.startswith("tensorflow.")):
                return False
        elif isinstance(around, ast.Call):
            inner, parameter = _find_parameter(function, around, (node, *parents))
            if inner is not None and depth < _DEEPEST and not selects_from_tensors(inner, parameter, depth + 1):
                return False
    return True


def has_only_tensorflow_uses(function: Function, name: str, depth: int = 0) -> bool:
    """Return whether a function passes an argument to functions of TensorFlow and does nothing else with it."""
    uses = list(_find_reads(function, name))
    for node, parents in uses:
        around = parents[1] if isinstance(parents[0], ast.keyword) else parents[0]
        if not isinstance(around, ast.Call) or node is around.func:
            return False
        inner, parameter = _find_parameter(function, around, (node, *parents))
        if inner is not None and depth < _DEEPEST:
            if not has_only_tensorflow_uses(inner, parameter, depth + 1):
                return False
        elif not function.file.name(around.func).startswith("tensorflow."):
            return False
    return bool(uses)


def _find_parameter(function: Function, call: ast.Call, inward: _Around) -> tuple[Function | None, str]:
    """Find the function at the file's top, or the method of the same class, that a call names, and its parameter that
    is given what holds a name. ``inward``: from the name outwards to the call and beyond."""
    of_class = _is_own_method(function, call)
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    named = [
        item
        for item in get_file(function).functions
        if item.name == called and (item.owner == function.owner if of_class else item.is_at_top)
    ]
    if len(named) != 1 or (isinstance(call.func, ast.Attribute) and not of_class):
        return None, ""
    is_static = any(item.last_name == "staticmethod" for item in named[0].decorators)
    given = bind_arguments(named[0].node.args, call, skip=int(of_class and not is_static))
    for name, argument in (given or {}).items():
        if argument.sure and any(item in inward for item in argument.values):
            return named[0], name
    return None, ""


def _is_own_method(function: Function, call: ast.Call) -> bool:
    """Return whether a call in a method is of ``self.name(...)``."""
    named = call.func.value if isinstance(call.func, ast.Attribute) else None
    own = function.parameters[:1] if function.owner else []
    return isinstance(named, ast.Name) and [named.id] == own


def _find_reads(function: Function, name: str) -> Iterator[tuple[ast.Name, _Around]]:
    """Find where a function reads a name, each with what is around it, innermost first."""
    for part in function.parts:
        node = part.node
        if isinstance(node, ast.Name) and node.id == name and part.is_read:
            yield node, tuple(_list_around(function, node))


def _list_around(function: Function, node: ast.AST) -> Iterator[ast.AST]:
    while node is not function.node:
        node = function.file.parents[node]
        yield node


def _find_purpose(node: ast.AST, parents: _Around) -> ast.AST:
    """Find the innermost code around a name that says what it is for; arithmetic in an index or a call is for that."""
    kinds = (ast.Compare, ast.Call, ast.JoinedStr, ast.FormattedValue, ast.stmt)
    for parent in parents:
        if isinstance(parent, kinds) or (isinstance(parent, ast.Subscript) and node is parent.slice):
            return parent
        node = parent
    return parents[-1]
