"""Find the line at which a container grows, by its name in the source."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

import msgspec

from tfperfkit.syntax.module import parse
from tfperfkit.syntax.nodes import find_nodes, get_method, get_receiver

#: Methods that make a list, dict, set or deque longer.
_ADDING = frozenset(
    {
        "append",
        "appendleft",
        "extend",
        "extendleft",
        "insert",
        "add",
        "update",
        "setdefault",
        "__setitem__",
    }
)
#: Functions that return a longer array or tensor.
_JOINING = frozenset({"append", "concat", "concatenate", "stack", "vstack", "hstack", "insert"})


class GrowsAt(msgspec.Struct, frozen=True):
    """A line and the function around it ("" for the module). ``found``: the container grows there, or is made there."""

    line: int
    function: str
    found: Literal["grows", "made"]


def grows_at(source: Sequence[str], name: str, function: str = "") -> GrowsAt | None:
    """The first line that makes ``name`` longer, else the one that makes it; None when there is neither.

    ``name`` is as the instrument gives it: ``losses``, ``self.losses``, ``history['loss']``. ``function`` is where the
    name is local ("" for a global): lines in it, or in functions inside it, come first. Of an attribute only the last
    part counts, since the object has other names elsewhere.
    """
    syntax = parse(tuple(source))
    try:
        wanted = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    found: dict[str, list[int]] = {}
    for node in syntax.find_nodes(ast.AST) if syntax is not None else []:
        change = _find_change(node, wanted)
        if change:
            found.setdefault(change, []).append(getattr(node, "lineno", 0))
    change = "grows" if "grows" in found else "made"
    if syntax is None or change not in found:
        return None
    inside = {at for item in syntax.functions if item.name == function for at in range(item.first, item.last + 1)}
    line = min(found[change], key=lambda at: (bool(function) and at not in inside, at))
    around = syntax.find_function(line)
    return GrowsAt(line, around.name if around is not None else "", change)


def _find_change(node: ast.AST, wanted: ast.expr) -> Literal["grows", "made", ""]:
    """What a statement or a call does with the container: makes it longer, or makes it."""
    if isinstance(node, ast.Call):
        owner = get_receiver(node)
        return "grows" if owner is not None and get_method(node) in _ADDING and _is_same(wanted, owner) else ""
    if isinstance(node, ast.AugAssign):
        return "grows" if isinstance(node.op, (ast.Add, ast.BitOr)) and _is_same(wanted, node.target) else ""
    if isinstance(node, ast.AnnAssign):
        return "made" if _is_same(wanted, node.target) else ""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if any(isinstance(item, ast.Subscript) and _is_same(wanted, item.value) for item in targets):
        return "grows"
    if isinstance(node, ast.Assign) and any(_is_same(wanted, item) for item in targets):
        return "grows" if _joins(node.value, wanted) else "made"
    return ""


def _joins(value: ast.expr, wanted: ast.expr) -> bool:
    """Whether a new value is made from the old one and more: ``x + [y]``, ``np.append(x, y)``."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.BitOr)):
        return any(_is_same(wanted, side) for side in (value.left, value.right))
    parts = value.args if isinstance(value, ast.Call) and get_method(value) in _JOINING else []
    return any(_is_same(wanted, node) for part in parts for node in find_nodes(part, ast.expr))


def _is_same(wanted: ast.expr, node: ast.expr) -> bool:
    if isinstance(wanted, ast.Name):
        return isinstance(node, ast.Name) and node.id == wanted.id
    if isinstance(wanted, ast.Attribute):
        return isinstance(node, ast.Attribute) and node.attr == wanted.attr
    if isinstance(wanted, ast.Subscript):
        if not isinstance(node, ast.Subscript) or not _is_same(wanted.value, node.value):
            return False
        # A key that is not written out may be this one.
        return not isinstance(node.slice, ast.Constant) or ast.dump(node.slice) == ast.dump(wanted.slice)
    return False
