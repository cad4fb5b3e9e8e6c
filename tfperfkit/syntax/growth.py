"""Find the line at which a container grows, by its name in the source."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

import msgspec

from tfperfkit.syntax.expression import Assignment, Call, Expression
from tfperfkit.syntax.module import parse

#: Methods that make a list, dict, set or deque longer.
_ADDING = frozenset(
    ("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault", "__setitem__")
)
#: Functions that return a longer array or tensor.
_JOINING = frozenset(("append", "concat", "concatenate", "stack", "vstack", "hstack", "insert"))
_Change = Literal["grows", "made", ""]


class GrowsAt(msgspec.Struct, frozen=True):
    """A line and the function around it ("" for the module). ``found``: the container grows there, or is made there."""

    line: int
    function: str
    found: Literal["grows", "made"]


def find_growth(source: Sequence[str], name: str, function: str = "") -> GrowsAt | None:
    """Find the first line that makes ``name`` longer, else the one that makes it; None if there is neither.

    ``name`` is as the instrument gives it: ``losses``, ``self.losses``, ``history['loss']``. ``function`` is where the
    name is local ("" for a global): lines in it, or in functions inside it, come first. For an attribute only the last
    part counts, since the object has other names elsewhere.
    """
    syntax, named = parse(tuple(source)), parse((name,))
    if syntax is None or named is None or not named.tree.body or not isinstance(named.tree.body[0], ast.Expr):
        return None
    wanted = named.wrap(named.tree.body[0].value)
    changes = [(call.line, _find_call_change(call, wanted)) for call in syntax.calls]
    changes += [(item.line, _find_change(item, wanted)) for item in syntax.assignments]
    change: Literal["grows", "made"] = "grows" if any(what == "grows" for _, what in changes) else "made"
    lines = [line for line, what in changes if what == change]
    if not lines:
        return None
    inside = {at for item in syntax.functions if item.name == function for at in range(item.first, item.last + 1)}
    line = min(lines, key=lambda at: (bool(function) and at not in inside, at))
    around = syntax.find_function(line)
    return GrowsAt(line, around.name if around is not None else "", change)


def _find_call_change(call: Call, wanted: Expression) -> _Change:
    adds = call.method in _ADDING and call.receiver is not None and _is_same(wanted, call.receiver)
    return "grows" if adds else ""


def _find_change(item: Assignment, wanted: Expression) -> _Change:
    """Find what an assignment does with the container: makes it longer, or makes it."""
    if item.operator:
        return "grows" if item.operator in ("+", "|") and _is_same(wanted, item.targets[0]) else ""
    if any(target.index and target.owner and _is_same(wanted, target.owner) for target in item.targets):
        return "grows"
    if any(_is_same(wanted, target) for target in item.targets):
        return "grows" if _joins(item.value, wanted) else "made"
    return ""


def _joins(value: Expression, wanted: Expression) -> bool:
    """Return whether a new value is made from the old one and more: ``x + [y]``, ``np.append(x, y)``."""
    if value.operator in ("+", "|"):
        return any(_is_same(wanted, side) for side in value.operands)
    parts = value.arguments if isinstance(value, Call) and value.method in _JOINING else []
    return any(_is_same(wanted, node) for part in parts for node in part.parts)


def _is_same(wanted: Expression, node: Expression) -> bool:
    if wanted.kind != node.kind:
        return False
    if wanted.index is None or node.index is None or wanted.owner is None or node.owner is None:
        return wanted.is_plain and node.last_name == wanted.last_name
    # A key that is not written out may be this one.
    return _is_same(wanted.owner, node.owner) and (not node.index.is_constant() or node.index.text == wanted.index.text)
