"""Decide whether a function only adds up the gradients that it asks for.

Gradient surgery and loss balancing need each gradient by itself (its norm, its angle to another), so the gradient of
the sum can't replace them. Gradients are followed through the assignments, loops and calls of the function.
"""

from __future__ import annotations

from collections.abc import Set

from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function

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


def only_added(function: Function, calls: Set[Call]) -> bool:
    """Return whether the results of these calls are added up somewhere in a function, and used in no other way."""
    held: set[str] = set()  # names of single gradients
    flow = _Flow(calls, held, _number_comprehension_names(function))
    bound = [(item.targets, item.value) for item in function.assignments if not item.operator]
    bound += [([target], over) for target, over in function.loop_targets]
    while True:
        before = len(held)
        for targets, value in bound:
            held |= flow.name_all(targets) if flow.is_single(value) else set()
        for call in function.calls:
            held |= flow.name_all([call.receiver]) if call.receiver is not None and flow.stores(call) else set()
        if len(held) == before:
            break
    added = any(map(flow.adds, function.parts))
    added = added or any(item.operator == "+" and flow.is_single(item.value) for item in function.assignments)
    return added and not any(map(flow.takes_apart, function.parts))


def _number_comprehension_names(function: Function) -> dict[Expression, str]:
    """Give each name that a comprehension binds a key of its own, so that equal names in two of them stay apart."""
    keys: dict[Expression, str] = {}
    for number, node in enumerate(function.parts):
        if node.kind == "comprehension":
            bound = set[str]().union(*(target.names for target, _ in node.generators))
            first = set(node.generators[0][1].parts)  # is read outside
            for item in node.parts:
                if item.kind == "name" and item.text in bound and item not in first:
                    keys[item] = f"{item.text} {number}"
    return keys


class _Flow:
    def __init__(self, calls: Set[Call], held: set[str], keys: dict[Expression, str]) -> None:
        self._calls, self._held, self._keys = calls, held, keys

    def name_all(self, targets: list[Expression]) -> set[str]:
        """Name what an assignment binds."""
        names = (part for target in targets if target.index is None for part in target.parts if part.kind == "name")
        return {self._keys.get(item, item.text) for item in names}

    def is_single(self, node: Expression) -> bool:
        """Whether an expression is a gradient that was not added to another, or holds one."""
        if node in self._calls:
            return True
        if node.kind == "name":
            return self._keys.get(node, node.text) in self._held
        if node.operator == "+":
            left, right = node.operands
            return self.is_single(left) != self.is_single(right)
        if isinstance(node, Call):
            return node.name not in _SUMS and any(map(self.is_single, node.given))
        if node.element is not None:
            return self.is_single(node.element)
        return node.kind not in ("comparison", "lambda") and any(map(self.is_single, node.children))

    def adds(self, node: Expression) -> bool:
        """Whether gradients are added here."""
        if node.operator == "+":
            return any(map(self.is_single, node.operands))
        if isinstance(node, Call) and any(map(self.is_single, node.arguments)):
            return node.name in _SUMS or node.method == "assign_add"
        return False

    def takes_apart(self, node: Expression) -> bool:
        """Whether a gradient is needed by itself here."""
        if node.operator in ("*", "@"):
            return all(map(self.is_single, node.operands))
        if not isinstance(node, Call) or node in self._calls or self.stores(node):
            return False
        return any(map(self.is_single, node.given)) and node.name not in _PASSES and node.method not in _METHODS

    def stores(self, node: Call) -> bool:
        """Whether a gradient is put into a list."""
        return node.method in _STORES and any(map(self.is_single, node.arguments))
