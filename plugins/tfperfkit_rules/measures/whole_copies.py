"""Where the person's source copies the whole of an array to make it longer: by the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.syntax.names import Syntax

#: What makes a new array of all that it is given, and how the parts are joined once instead.
JOINS = {
    "numpy.append": "np.concatenate(parts)",
    "numpy.concatenate": "np.concatenate(parts)",
    "numpy.vstack": "np.vstack(parts)",
    "numpy.hstack": "np.hstack(parts)",
    "numpy.dstack": "np.dstack(parts)",
    "numpy.column_stack": "np.column_stack(parts)",
    "numpy.insert": "np.concatenate(parts)",
    "pandas.concat": "pd.concat(parts)",
    "tensorflow.concat": "tf.concat(parts, axis=0)",
    "keras.ops.append": "keras.ops.concatenate(parts)",
    "keras.ops.concatenate": "keras.ops.concatenate(parts)",
}
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Copied(NamedTuple):
    """The call that copies, what it is assigned to again (as it is written), and how to join parts once. ``kept``: only
    a part of the result is (``np.vstack([memory, row])[-size:]``)."""

    call: ast.Call
    name: str
    join: str
    kept: bool


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
        value, kept = node.value, False
        while isinstance(value, (ast.Subscript, ast.Attribute)):
            value, kept = value.value, kept or isinstance(value, ast.Subscript)
        if not isinstance(value, ast.Call) or not isinstance(target, (ast.Name, ast.Attribute)):
            continue
        join, name = JOINS.get(syntax.name(value.func)), ast.unparse(target)
        if join is not None and any(_holds(item, name) for item in value.args[:2]):
            yield Copied(value, name, join, kept)


def _assignments(node: ast.AST, looped: bool) -> Iterator[tuple[ast.Assign, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign):
            yield child, looped
        yield from _assignments(child, isinstance(child, _LOOPS) or (looped and not isinstance(child, _FUNCTIONS)))


def _holds(node: ast.AST, name: str) -> bool:
    """Whether an argument is all of it, or a list that holds all of it."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    return any(isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name for part in parts)
