"""Tensors that are computed twice in a graph in the same way, and so are equal."""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.graph import optable
from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.walk import WRITES

#: Kinds of operations that are not compared: what they make doesn't follow from their type and inputs alone.
_NOT_COMPARED = frozenset({"call", "loop", "branch", "placeholder", "tensor-list"})
_DEEPEST = 80


class Alike:
    """Keys of tensors: equal keys, equal numbers. A tensor too deep to be followed is equal to itself alone. ``made``
    gives the node behind one, past what only passes it on."""

    def __init__(self, graph: Graph, made: Callable[[str], Node | None]) -> None:
        self._made = made
        self._order = {name: number for number, name in enumerate(graph.nodes)}
        self._keys: dict[str, object] = {}
        self._numbers: dict[object, int] = {}
        #: Position of the first assignment to each variable.
        self._written: dict[str, int] = {}
        for node in graph.nodes.values():
            if node.type in WRITES:
                for owner, _ in node.inputs[:1]:
                    self._written.setdefault(owner, self._order[node.name])

    def make_key(self, owner: tuple[str, int]) -> object:
        return self._make_key(owner[0], 0), owner[1]

    def _make_key(self, name: str, depth: int) -> object:
        node = self._made(name)
        if node is None or node.name in self._keys:
            return name if node is None else self._keys[node.name]
        if depth > _DEEPEST or self._makes_another(node):
            return node.name
        inputs = tuple((self._make_key(owner, depth + 1), number) for owner, number in node.inputs)
        # A short key, since it may be part of the keys of many others.
        number = self._numbers.setdefault((node.type, _attributes(node), inputs), len(self._numbers))
        return self._keys.setdefault(node.name, number)

    def _makes_another(self, node: Node) -> bool:
        if node.type == "ReadVariableOp":
            return self._written.get(node.inputs[0][0], len(self._order)) < self._order[node.name]
        row = optable.row(node.type)
        return row.varies or row.kind in _NOT_COMPARED


def _attributes(node: Node) -> str:
    return repr(sorted(node.attributes().items())) if node.type != "Const" else str(node.attr("value"))
