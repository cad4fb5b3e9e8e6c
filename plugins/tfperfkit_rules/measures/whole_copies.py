"""Where the person's source copies the whole of an array to make it longer, or to change a few elements: by the syntax
tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.syntax.module import Syntax

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
#: The same by an index: ``np.r_[a, b]``.
BY_INDEX = {"numpy.r_": "np.concatenate", "numpy.c_": "np.column_stack"}
#: Without an axis these flatten what they are given, and take numbers.
_FLAT = {"numpy.append": "np.hstack", "keras.ops.append": "keras.ops.hstack"}
#: Take the axis as their second argument.
_AXIS_SECOND = ("numpy.concatenate", "tensorflow.concat", "keras.ops.concatenate")
#: What makes a new tensor with some elements changed, and how an array of NumPy's has them changed in place.
_CHANGES = {
    "tensorflow.tensor_scatter_nd_update": "=",
    "tensorflow.tensor_scatter_nd_add": "+=",
    "tensorflow.tensor_scatter_nd_sub": "-=",
}
_SCATTERED = ("tensor", "indices", "updates")
_TENSORS = ("tensorflow.constant", "tensorflow.convert_to_tensor", "numpy.array", "numpy.asarray")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Copied(NamedTuple):
    """The expression that copies, what it is assigned to again (as written), and how to join parts once. ``kept``: only
    a part of the result is (``np.vstack([memory, row])[-size:]``), of which ``size`` is that many rows, "" where it is
    not known. ``new``: what it is made longer by. ``written``: how an element of an array is changed in place, where
    that is what it is copied for."""

    call: ast.expr
    name: str
    join: str
    kept: bool
    new: str = "new"
    size: str = ""
    written: str = ""


@lru_cache(maxsize=64)
def whole_copies(syntax: Syntax) -> tuple[Copied, ...]:
    """The joins of an array with something, assigned to the same name: in a loop, or to an attribute, in whatever loop
    the method is called."""
    return tuple(_found(syntax))


def _found(syntax: Syntax) -> Iterator[Copied]:
    for target, whole, looped in _bindings(syntax.tree):
        enlarged = _enlarged(target)
        if enlarged:
            yield Copied(target, enlarged, "pd.concat(parts)", False)
        if not isinstance(target, (ast.Name, ast.Attribute)) or not (looped or isinstance(target, ast.Attribute)):
            continue
        value, kept, size, name = whole, False, "", ast.unparse(target)
        while isinstance(value, (ast.Subscript, ast.Attribute)) and not _api(syntax, value):
            if isinstance(value, ast.Subscript):
                kept, size = True, size or _last(value.slice)
            value = value.value
        if _api(syntax, value) and any(_holds(item, name) for item in _given(value)):
            yield Copied(value, name, _joined(_api(syntax, value), value), kept, _new(value, name), size)
        elif isinstance(value, ast.Call) and syntax.name(value.func) in _CHANGES:
            written = _written(syntax, value, name)
            if written and value is whole:
                yield Copied(value, name, "", False, written=written)
        elif isinstance(value, ast.Call):
            yield from _in_helper(syntax, value, name, kept)


def _api(syntax: Syntax, node: ast.expr) -> str:
    """The join that an expression is: a call, or ``np.r_[a, b]``; "" for none."""
    inner = node.func if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Subscript) else None
    name = syntax.name(inner) if inner is not None else ""
    return name if name in (JOINS if isinstance(node, ast.Call) else BY_INDEX) else ""


def _given(node: ast.expr) -> list[ast.expr]:
    """What a join is given: its first two arguments, or those by name; the parts of ``np.r_[a, b]``."""
    if isinstance(node, ast.Call):
        return [*node.args[:2], *(word.value for word in node.keywords)]
    return [node.slice] if isinstance(node, ast.Subscript) else []


def _written(syntax: Syntax, call: ast.Call, name: str) -> str:
    """``m[i, j] += x`` for ``tf.tensor_scatter_nd_add(m, [[i, j]], [x])``: where the call changes one element, or one
    row, of what it is assigned to; else ""."""
    given = dict(zip(_SCATTERED, call.args, strict=False))
    given |= {word.arg: word.value for word in call.keywords if word.arg}
    if not given.keys() >= set(_SCATTERED) or ast.unparse(given["tensor"]) != name:
        return ""
    at, new = _only(syntax, given["indices"]), _only(syntax, given["updates"])
    if not isinstance(at, (ast.List, ast.Tuple)) or not at.elts:
        return ""
    index = ", ".join(map(ast.unparse, at.elts))
    return f"{name}[{index}] {_CHANGES[syntax.name(call.func)]} {ast.unparse(new) if new is not None else 'new'}"


def _only(syntax: Syntax, node: ast.expr) -> ast.expr | None:
    """The one element of a list that is written out, also where a tensor is made of it."""
    while isinstance(node, ast.Call) and node.args and syntax.name(node.func) in _TENSORS:
        node = node.args[0]
    if not isinstance(node, (ast.List, ast.Tuple)) or len(node.elts) != 1:
        return None
    return None if isinstance(node.elts[0], ast.Starred) else node.elts[0]


def _in_helper(syntax: Syntax, call: ast.Call, name: str, kept: bool) -> Iterator[Copied]:
    """What a function of the file returns, where that is a join of an argument: ``kept = add(kept, new)``."""
    named = call.func.id if isinstance(call.func, ast.Name) else ""
    found = [item for item in ast.walk(syntax.tree) if isinstance(item, ast.FunctionDef) and item.name == named]
    if len(found) != 1:
        return
    names = [item.arg for item in (*found[0].args.posonlyargs, *found[0].args.args)]
    pairs = [*zip(names, call.args, strict=False), *((word.arg or "", word.value) for word in call.keywords)]
    mine = next((given for given, value in pairs if ast.unparse(value) == name), "")
    for node in ast.walk(found[0]):
        value = node.value if isinstance(node, ast.Return) else None
        while isinstance(value, ast.Subscript) and not _api(syntax, value):
            value, kept = value.value, True
        if value is not None and mine and _api(syntax, value) and any(_holds(item, mine) for item in _given(value)):
            yield Copied(value, name, _joined(_api(syntax, value), value), kept)


def _enlarged(target: ast.expr) -> str:
    """The frame that ``df.loc[len(df)] = row`` makes one row longer; "" for none."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Attribute):
        return ""
    name, at = ast.unparse(target.value.value), target.slice
    counted = isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and at.func.id == "len"
    held = counted and isinstance(at, ast.Call) and [ast.unparse(item) for item in at.args] == [name]
    return name if held and target.value.attr == "loc" else ""


def _bindings(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """(what is bound, to what, whether in a loop), those of ``a, b = f(a), g(b)`` one by one."""
    for node, looped in _assignments(tree, False):
        target, value = node.targets[0], node.value
        if len(node.targets) != 1:
            continue
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            yield from ((one, other, looped) for one, other in zip(target.elts, value.elts, strict=True))
        else:
            yield target, value, looped


def _last(node: ast.expr) -> str:
    """``size`` of ``[-size:]``."""
    lower = node.lower if isinstance(node, ast.Slice) and node.upper is None else None
    return ast.unparse(lower.operand) if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) else ""


def _joined(api: str, node: ast.expr) -> str:
    """The join of a list ``parts`` along the same axis."""
    if not isinstance(node, ast.Call):
        return f"{BY_INDEX[api]}(parts)"
    axis = next((item.value for item in node.keywords if item.arg == "axis"), None)
    if axis is None and api in _AXIS_SECOND and len(node.args) > 1:
        axis = node.args[1]
    function = _FLAT.get(api, JOINS[api]) if axis is None else JOINS[api]
    axis_text = "" if axis is None else f", axis={ast.unparse(axis)}"
    return f"{function}(parts{axis_text or (', axis=0' if api == 'tensorflow.concat' else '')})"


def _new(node: ast.expr, name: str) -> str:
    """What the array is joined with, where it is one thing."""
    parts = _given(node)
    first = next((item for item in parts if isinstance(item, (ast.List, ast.Tuple)) and _holds(item, name)), None)
    given = first.elts if isinstance(first, (ast.List, ast.Tuple)) else parts[:2]
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
