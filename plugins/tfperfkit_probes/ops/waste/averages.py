"""Averages of weights that each call brings up to date: every weight is read, and every average read and written."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.staying import owner_of
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "average"
_WRITES = frozenset({"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"})
#: Number by number, as in ``momentum * average + (1 - momentum) * weight``.
_BETWEEN = SAME | UNARY | BINARY | {"AddN"}
_MAX_OPERATIONS = 20


def averages(view: View) -> Iterator[Wasted]:
    """By variables that are given a mixture of what they were and of one other variable: no gradient, no result."""
    region: dict[str, Node] = {}
    variables = numbers_kept = 0
    for node in view.nodes.values():
        way = _mixed(view, node) if node.type in _WRITES and len(node.inputs) > 1 else []
        if way:
            region.update({each.name: each for each in way})
            variables += 1
            numbers_kept += view.elements(*node.inputs[1]) or 0
    if not region:
        return
    places = [node.place for node in region.values() if node.place is not None]
    yield Wasted(
        kind=KIND,
        where=places[-1] if places else None,
        places=list(dict.fromkeys(places)),
        operations=list(region),
        # Behind an optimizer they belong to the update of weights, in a function of their own to nothing.
        updates=list(region),
        left=1 / numbers.AVERAGED_EACH.value,
        figures={"variables": variables, "numbers": numbers_kept, "each": numbers.AVERAGED_EACH.value},
    )


def _mixed(view: View, write: Node) -> list[Node]:
    """The operations from the two reads to the write; none where anything else goes into it."""
    target, whole = owner_of(view.graph, write.inputs[0][0]), view.elements(*write.inputs[1])
    if whole is None or whole < 2:  # a number is mixed for nothing
        return []
    found: dict[str, Node] = {write.name: write}
    read: set[str] = set()
    pending = [write.inputs[1]]
    while pending:
        owner = pending.pop()
        node = view.nodes.get(owner[0])
        if node is None or len(found) > _MAX_OPERATIONS or node.backward:
            return []
        if view.elements(*owner) == 1 or node.name in found:
            continue  # how much of each
        found[node.name] = node
        if node.type == "ReadVariableOp":
            read.add(owner_of(view.graph, node.inputs[0][0]))
        elif node.type in _BETWEEN:
            pending += node.inputs
        elif node.type != "Const":
            return []
    return list(reversed(found.values())) if target in read and len(read) == 2 else []
