"""Decide whether a function only adds up the gradients that it asks for.

Gradient surgery and loss balancing need each gradient by itself (its norm, its angle to another), so the gradient of
the sum can't replace them. Gradients are followed through the assignments, loops and calls of the function.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import Any

from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import COMPREHENSIONS, find_nodes, get_method, list_names

_SUMS = ("builtins.sum", "tensorflow.add_n", "tensorflow.math.add_n", "tensorflow.add", "tensorflow.math.add")
#: Functions that pass gradients on as they are, or add them to something.
_PASSES = (
    *_SUMS,
    *(f"builtins.{name}" for name in ("zip", "list", "tuple", "enumerate", "len", "range", "reversed", "isinstance")),
    "tensorflow.zeros_like",
    "tensorflow.nest.map_structure",
)
_METHODS = ("apply_gradients", "apply", "minimize", "assign_add")
_STORES = ("append", "extend")
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def only_added(syntax: Syntax, function: ast.AST, calls: Set[ast.AST]) -> bool:
    """Whether the results of these calls are added up somewhere in a function, and used in no other way."""
    nodes = find_nodes(function, ast.AST)
    held: set[str] = set()  # names of single gradients
    flow = _Flow(syntax, calls, held, _number_comprehension_names(function))
    while True:
        before = len(held)
        for node in nodes:
            held |= flow.find_bound_names(node)
        if len(held) == before:
            break
    added = any(flow.adds(node) for node in nodes)
    return added and not any(flow.takes_apart(node) for node in nodes)


def _number_comprehension_names(function: ast.AST) -> dict[ast.AST, str]:
    """Give each name that a comprehension binds a key of its own, so that equal names in two of them stay apart."""
    keys: dict[ast.AST, str] = {}
    for number, node in enumerate(find_nodes(function, ast.expr)):
        if isinstance(node, COMPREHENSIONS):
            bound = set[str]().union(*(list_names(part.target) for part in node.generators))
            first = set(find_nodes(node.generators[0].iter, ast.Name))  # is read outside
            for item in find_nodes(node, ast.Name):
                if item.id in bound and item not in first:
                    keys[item] = f"{item.id} {number}"
    return keys


class _Flow:
    def __init__(self, syntax: Syntax, calls: Set[ast.AST], held: set[str], keys: dict[ast.AST, str]) -> None:
        self._syntax, self._calls, self._held = syntax, calls, held
        self._keys = keys

    def find_bound_names(self, node: Any) -> set[str]:
        """The names that a statement assigns a single gradient, or a list of them, to."""
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            targets = [*node.targets] if isinstance(node, ast.Assign) else [node.target]
            targets = targets if self.is_single(node.value) else []
        elif isinstance(node, _LOOPS) and self.is_single(node.iter):
            targets = [node.target]
        elif isinstance(node, ast.Call) and self._stores(node):
            targets = [node.func.value]  # type: ignore[attr-defined]
        return {
            self._keys.get(item, item.id)
            for target in targets
            if not isinstance(target, ast.Subscript)
            for item in find_nodes(target, ast.Name)
        }

    def is_single(self, node: Any) -> bool:
        """Whether an expression is a gradient that was not added to another, or holds one."""
        if node in self._calls:
            return True
        if isinstance(node, ast.Name):
            return self._keys.get(node, node.id) in self._held
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.is_single(node.left) != self.is_single(node.right)
        if isinstance(node, ast.Call):
            if self._syntax.name(node.func) in _SUMS:
                return False
            return any(map(self.is_single, [*node.args, *(word.value for word in node.keywords)]))
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return self.is_single(node.elt)
        if isinstance(node, (ast.Compare, ast.Lambda)):
            return False
        return isinstance(node, ast.expr) and any(map(self.is_single, ast.iter_child_nodes(node)))

    def adds(self, node: Any) -> bool:
        """Whether gradients are added here."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.is_single(node.left) or self.is_single(node.right)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            return self.is_single(node.value)
        if isinstance(node, ast.Call) and any(map(self.is_single, node.args)):
            return self._syntax.name(node.func) in _SUMS or get_method(node) == "assign_add"
        return False

    def takes_apart(self, node: Any) -> bool:
        """Whether a gradient is needed by itself here."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.MatMult)):
            return self.is_single(node.left) and self.is_single(node.right)
        if not isinstance(node, ast.Call) or node in self._calls or self._stores(node):
            return False
        if not any(map(self.is_single, [*node.args, *(word.value for word in node.keywords)])):
            return False
        return self._syntax.name(node.func) not in _PASSES and get_method(node) not in _METHODS

    def _stores(self, node: ast.Call) -> bool:
        return get_method(node) in _STORES and any(map(self.is_single, node.args))
