"""The line at which a container grows: found in the source text, by its name."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

import msgspec

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
#: Functions that give a longer array or tensor.
_JOINING = frozenset({"append", "concat", "concatenate", "stack", "vstack", "hstack", "insert"})


class GrowsAt(msgspec.Struct, frozen=True):
    """A line and the function it stands in ("" for the module). ``found``: it grows there, or is only made there."""

    line: int
    function: str
    found: Literal["grows", "made"]


def grows_at(source: Sequence[str], name: str, function: str = "") -> GrowsAt | None:
    """The first line that makes ``name`` longer, else the one that makes it; None when there is neither.

    ``name`` is as the instrument gives it: ``losses``, ``self.losses``, ``history['loss']``. ``function`` is where the
    name is local ("" for a global): lines in it, or in functions inside it, come first. Of an attribute only the last
    part counts, since the object has other names elsewhere.
    """
    try:
        tree = ast.parse("\n".join(line.rstrip("\n") for line in source))
        wanted = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    finder = _Finder(wanted, function)
    try:
        finder.visit(tree)
    except RecursionError:
        return None
    for candidates in (finder.grows, finder.made):
        if candidates:
            return min(candidates, key=lambda item: item[0])[1]
    return None


class _Finder(ast.NodeVisitor):
    def __init__(self, wanted: ast.expr, function: str) -> None:
        self._wanted = wanted
        self._function = function
        self._stack: list[str] = []
        self.grows: list[tuple[tuple[bool, int], GrowsAt]] = []
        self.made: list[tuple[tuple[bool, int], GrowsAt]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._inside(node)

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._stack.append(node.name)
        self.generic_visit(node)
        self._stack.pop()

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _ADDING and self._is(function.value):
            self._keep(node, "grows")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, (ast.Add, ast.BitOr)) and self._is(node.target):
            self._keep(node, "grows")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript) and self._is(target.value):
                self._keep(node, "grows")
            elif self._is(target):
                self._keep(node, "grows" if self._joins(node.value) else "made")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if self._is(node.target):
            self._keep(node, "made")
        self.generic_visit(node)

    def _keep(self, node: ast.stmt | ast.expr, found: Literal["grows", "made"]) -> None:
        inside = not self._function or self._function in self._stack
        place = GrowsAt(node.lineno, self._stack[-1] if self._stack else "", found)
        (self.grows if found == "grows" else self.made).append(((not inside, node.lineno), place))

    def _joins(self, value: ast.expr) -> bool:
        """Whether a new value is made of the old one and more: ``x + [y]``, ``np.append(x, y)``."""
        if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.BitOr)):
            return any(self._is(side) for side in (value.left, value.right))
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _JOINING:
            return any(
                self._is(node) for argument in value.args for node in ast.walk(argument) if isinstance(node, ast.expr)
            )
        return False

    def _is(self, node: ast.expr) -> bool:
        return _same(self._wanted, node)


def _same(wanted: ast.expr, node: ast.expr) -> bool:
    if isinstance(wanted, ast.Name):
        return isinstance(node, ast.Name) and node.id == wanted.id
    if isinstance(wanted, ast.Attribute):
        return isinstance(node, ast.Attribute) and node.attr == wanted.attr
    if isinstance(wanted, ast.Subscript):
        if not isinstance(node, ast.Subscript) or not _same(wanted.value, node.value):
            return False
        # A key that is not written out may be this one.
        return not isinstance(node.slice, ast.Constant) or ast.dump(node.slice) == ast.dump(wanted.slice)
    return False
