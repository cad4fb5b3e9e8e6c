"""Find where the source copies a whole array to make it longer, or to change a few elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.syntax.call import bind_arguments
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_argument

#: Functions that make a new array of all their arguments, and how to join the parts once instead.
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
#: The same by an index: ``np.r_[a, b]``.
BY_INDEX = {"numpy.r_": "np.concatenate", "numpy.c_": "np.column_stack"}
#: Without an axis these flatten what they are given, and take numbers.
_FLAT = {"numpy.append": "np.hstack", "keras.ops.append": "keras.ops.hstack"}
#: Take the axis as their second argument.
_AXIS_SECOND = ("numpy.concatenate", "tensorflow.concat", "keras.ops.concatenate")
#: Functions that make a new tensor with some elements changed, and how to change them in place in a NumPy array.
_CHANGES = {
    "tensorflow.tensor_scatter_nd_update": "=",
    "tensorflow.tensor_scatter_nd_add": "+=",
    "tensorflow.tensor_scatter_nd_sub": "-=",
}
_SCATTERED = ("tensor", "indices", "updates")
_TENSORS = ("tensorflow.constant", "tensorflow.convert_to_tensor", "numpy.array", "numpy.asarray")


class Copied(NamedTuple):
    """``call``: the expression that copies; ``name``: what it is assigned to, as written; ``join``: how to join the
    parts once. ``kept``: only a part of the result is kept (``np.vstack([memory, row])[-size:]``), ``size`` rows, "" if
    unknown. ``new``: what is added. ``written``: how to change an element in place, if the copy is made for that."""

    call: ast.expr
    name: str
    join: str
    kept: bool
    new: str = "new"
    size: str = ""
    written: str = ""


@lru_cache(maxsize=64)
def whole_copies(syntax: Syntax) -> tuple[Copied, ...]:
    """Find the joins of an array with something, assigned to the same name in a loop, or to the same attribute: its
    method may be called in a loop."""
    return tuple(_find_copies(syntax))


def _find_copies(syntax: Syntax) -> Iterator[Copied]:
    for target, whole, looped in _find_assignments(syntax):
        enlarged = _name_enlarged_frame(target)
        if enlarged:
            yield Copied(target, enlarged, "pd.concat(parts)", False)
        if not isinstance(target, (ast.Name, ast.Attribute)) or not (looped or isinstance(target, ast.Attribute)):
            continue
        value, kept, size, name = whole, False, "", ast.unparse(target)
        while isinstance(value, (ast.Subscript, ast.Attribute)) and not _api(syntax, value):
            if isinstance(value, ast.Subscript):
                kept, size = True, size or _write_kept_rows(value.slice)
            value = value.value
        if _joins(syntax, value, name):
            yield Copied(value, name, _write_join(_api(syntax, value), value), kept, _write_added(value, name), size)
        elif isinstance(value, ast.Call) and syntax.name(value.func) in _CHANGES:
            written = _write_in_place(syntax, value, name)
            if written and value is whole:
                yield Copied(value, name, "", False, written=written)
        elif isinstance(value, ast.Call):
            yield from _find_copies_in_helper(syntax, value, name, kept)


def _api(syntax: Syntax, node: ast.expr) -> str:
    """The join that an expression is: a call, or ``np.r_[a, b]``; "" for none."""
    inner = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else None
    name = syntax.name(inner) if inner is not None else ""
    return name if name in (JOINS if isinstance(node, ast.Call) else BY_INDEX) else ""


def _joins(syntax: Syntax, node: ast.expr, name: str) -> bool:
    """Whether an expression joins all of the array of this name with something."""
    return bool(_api(syntax, node)) and any(_holds(item, name) for item in _list_joined(node))


def _list_joined(node: ast.expr) -> list[ast.expr]:
    """What a join gets: its first two arguments, or those by name; the parts of ``np.r_[a, b]``."""
    if isinstance(node, ast.Call):
        return [*node.args[:2], *(word.value for word in node.keywords)]
    return [node.slice] if isinstance(node, ast.Subscript) else []


def _write_in_place(syntax: Syntax, call: ast.Call, name: str) -> str:
    """``m[i, j] += x`` for ``tf.tensor_scatter_nd_add(m, [[i, j]], [x])``, if the call changes one element, or one row,
    of the array that it is assigned to; else ""."""
    tensor, indices, updates = (get_argument(call, word, position) for position, word in enumerate(_SCATTERED))
    if tensor is None or indices is None or updates is None or ast.unparse(tensor) != name:
        return ""
    at, new = _only(syntax, indices), _only(syntax, updates)
    if not isinstance(at, (ast.List, ast.Tuple)) or not at.elts:
        return ""
    index = ", ".join(map(ast.unparse, at.elts))
    return f"{name}[{index}] {_CHANGES[syntax.name(call.func)]} {ast.unparse(new) if new is not None else 'new'}"


def _only(syntax: Syntax, node: ast.expr) -> ast.expr | None:
    """The one element of a list that is written out, also if a tensor is made of the list."""
    while isinstance(node, ast.Call) and node.args and syntax.name(node.func) in _TENSORS:
        node = node.args[0]
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) != 1:
        return None
    return None if isinstance(node.elts[0], ast.Starred) else node.elts[0]


def _find_copies_in_helper(syntax: Syntax, call: ast.Call, name: str, kept: bool) -> Iterator[Copied]:
    """Find what a function of the file returns, if that is a join of an argument: ``kept = add(kept, new)``."""
    function = syntax.find_only_function(call.func.id) if isinstance(call.func, ast.Name) else None
    if function is None:
        return
    given = bind_arguments(function.node.args, call) or {}
    mine = next((key for key, item in given.items() if item.sure and [*map(ast.unparse, item.values)] == [name]), None)
    for value in function.returned if mine is not None else ():
        while isinstance(value, ast.Subscript) and not _api(syntax, value):
            value, kept = value.value, True
        if value is not None and mine is not None and _joins(syntax, value, mine):
            yield Copied(value, name, _write_join(_api(syntax, value), value), kept)


def _name_enlarged_frame(target: ast.expr) -> str:
    """The data frame that ``df.loc[len(df)] = row`` makes one row longer; "" for none."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Attribute):
        return ""
    name, at = ast.unparse(target.value.value), target.slice
    counted = isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and at.func.id == "len"
    held = counted and isinstance(at, ast.Call) and [ast.unparse(item) for item in at.args] == [name]
    return name if held and target.value.attr == "loc" else ""


def _find_assignments(syntax: Syntax) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Find (target, value, whether in a loop) in the order of the source; those of ``a, b = f(a), g(b)`` one by one."""
    for node in sorted(syntax.find_nodes(ast.Assign), key=lambda item: (item.lineno, item.col_offset)):
        target, value, looped = node.targets[0], node.value, syntax.is_in_loop(node)
        if len(node.targets) != 1:
            continue
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from ((one, other, looped) for one, other in zip(target.elts, value.elts, strict=True))
        else:
            yield target, value, looped


def _write_kept_rows(node: ast.expr) -> str:
    """``size`` of ``[-size:]``."""
    lower = node.lower if isinstance(node, ast.Slice) and node.upper is None else None
    return ast.unparse(lower.operand) if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) else ""


def _write_join(api: str, node: ast.expr) -> str:
    """The join of a list ``parts`` along the same axis."""
    if not isinstance(node, ast.Call):
        return f"{BY_INDEX[api]}(parts)"
    axis = get_argument(node, "axis", 1 if api in _AXIS_SECOND else None)
    function = _FLAT.get(api, JOINS[api]) if axis is None else JOINS[api]
    axis_text = "" if axis is None else f", axis={ast.unparse(axis)}"
    return f"{function}(parts{axis_text or (', axis=0' if api == 'tensorflow.concat' else '')})"


def _write_added(node: ast.expr, name: str) -> str:
    """What the array is joined with, if it is one thing; else "new"."""
    parts = _list_joined(node)
    first = next((item for item in parts if isinstance(item, (ast.List, ast.Tuple)) and _holds(item, name)), None)
    given = first.elts if isinstance(first, (ast.List, ast.Tuple)) else parts[:2]
    others = [ast.unparse(item) for item in given if ast.unparse(item) != name]
    return others[0] if len(others) == 1 else "new"


def _holds(node: ast.AST, name: str) -> bool:
    """Whether an argument is the whole array, or a list that contains the whole array."""
    parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    return any(isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name for part in parts)
