"""Where the person's source copies the whole of an array to make it longer: by the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.syntax.names import Syntax

#: What makes a new array of all that it is given, and how the parts are joined once instead.
JOINS = {
    "numpy.append": "np.concatenate",
    "numpy.concatenate": "np.concatenate",
    "numpy.vstack": "np.vstack",
    "numpy.hstack": "np.hstack",
    "numpy.dstack": "np.dstack",
    "numpy.column_stack": "np.column_stack",
    "numpy.insert": "np.concatenate",
    "pandas.concat": "pd.concat",
    "tensorflow.concat": "tf.concat",
    "keras.ops.append": "keras.ops.concatenate",
    "keras.ops.concatenate": "keras.ops.concatenate",
}
#: Without an axis these flatten what they are given, and take numbers.
_FLAT = {"numpy.append": "np.hstack", "keras.ops.append": "keras.ops.hstack"}
#: Take the axis as their second argument.
_AXIS_SECOND = ("numpy.concatenate", "tensorflow.concat", "keras.ops.concatenate")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Copied(NamedTuple):
    """The call that copies, what it is assigned to again (as it is written), and how to join parts once. ``kept``: only
    a part of the result is (``np.vstack([memory, row])[-size:]``), of which ``size`` is that many rows, "" where it is
    not known. ``new``: what it is made longer by."""

    call: ast.Call
    name: str
    join: str
    kept: bool
    new: str = "new"
    size: str = ""


@lru_cache(maxsize=64)
def whole_copies(syntax: Syntax) -> tuple[Copied, ...]:
    """The joins of an array with something, assigned to the same name: in a loop, or to an attribute, in whatever loop
    the method is called."""
    return tuple(_found(syntax))


def _found(syntax: Syntax) -> Iterator[Copied]:
    for node, looped in _assignments(syntax.tree, False):
        target = node.targets[0]
        if len(node.targets) != 1 or not (looped or isinstance(target, ast.Attribute)):
            continue
        value, kept, size = node.value, False, ""
        while isinstance(value, (ast.Subscript, ast.Attribute)):
            if isinstance(value, ast.Subscript):
                kept, size = True, size or _last(value.slice)
            value = value.value
        if not isinstance(value, ast.Call) or not isinstance(target, (ast.Name, ast.Attribute)):
            continue
        api, name = syntax.name(value.func), ast.unparse(target)
        if api in JOINS and any(_holds(item, name) for item in value.args[:2]):
            yield Copied(value, name, _joined(api, value), kept, _new(value, name), size)


def _last(node: ast.expr) -> str:
    """``size`` of ``[-size:]``."""
    lower = node.lower if isinstance(node, ast.Slice) and node.upper is None else None
    return ast.unparse(lower.operand) if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) else ""


def _joined(api: str, call: ast.Call) -> str:
    """The join of a list ``parts`` along the same axis."""
    axis = next((item.value for item in call.keywords if item.arg == "axis"), None)
    if axis is None and api in _AXIS_SECOND and len(call.args) > 1:
        axis = call.args[1]
    function = _FLAT.get(api, JOINS[api]) if axis is None else JOINS[api]
    axis_text = "" if axis is None else f", axis={ast.unparse(axis)}"
    return f"{function}(parts{axis_text or (', axis=0' if api == 'tensorflow.concat' else '')})"


def _new(call: ast.Call, name: str) -> str:
    """What the array is joined with, where it is one thing."""
    first = call.args[0]
    given = first.elts if isinstance(first, (ast.List, ast.Tuple)) else call.args[:2]
    others = [ast.unparse(item) for item in given if ast.unparse(item) != name]
    return others[0] if len(others) == 1 else "new"


def _assignments(node: ast.AST, looped: bool) -> Iterator[tuple[ast.Assign, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign):
            yield child, looped
        yield from _assignments(child, isinstance(child, _LOOPS) or (looped and not isinstance(child, _FUNCTIONS)))


def _holds(node: ast.AST, name: str) -> bool:
    """Whether an argument is all of it, or a list that holds all of it."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    return any(isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name for part in parts)
