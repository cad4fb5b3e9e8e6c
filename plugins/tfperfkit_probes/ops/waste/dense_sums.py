"""A gradient of few rows that is made as large as its table, and added to a variable in whole."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "dense_sum"
#: Of smaller variables (numbers) a sum takes next to nothing.
_MIN_NUMBERS = 4096
_ADDS = frozenset({"AssignAddVariableOp", "AssignSubVariableOp"})
#: ``v.assign(v + g)``.
_SUMS = frozenset({"Add", "AddV2", "Sub"})
#: What keeps the rows that are zero so: a number times the gradient.
_SCALES = frozenset({"Mul", "RealDiv", "Neg", "Cast"})
_DEEPEST = 6


def dense_sums(view: View) -> Iterator[Wasted]:
    """``v.assign_add(tf.convert_to_tensor(g))`` of the gradient of a lookup, which names its rows: TensorFlow makes a
    table of it by a sum into zeros. A moving average, which changes the other rows too, is none."""
    for node in view.forward:
        way = _way(view, node)
        if not way:
            continue
        spread = way[-1]
        shape, named = view.shape(spread.name), view.elements(*spread.inputs[1])
        whole = view.elements(spread.name)
        if not shape or not whole or not named or whole < _MIN_NUMBERS or named > numbers.FEW.value * shape[0]:
            continue
        operations = [each.name for each in (*reversed(way), node)]
        places = [each.place for each in (node, *way) if each.place is not None]
        yield Wasted(
            kind=KIND,
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            operations=operations,
            updates=operations,
            left=named / shape[0],
            figures={"rows": float(shape[0]), "written": float(named), "bytes": float(view.bytes(spread.name))},
        )


def _way(view: View, node: Node) -> list[Node]:
    """The operations from what a node adds to a variable back to the sum into zeros; none where it is anything else."""
    if node.type in _ADDS:
        return _spread(view, view.source(node, 1)) if len(node.inputs) > 1 else []
    added = view.source(node, 1) if node.type == "AssignVariableOp" and len(node.inputs) > 1 else None
    if added is None or added.type not in _SUMS:
        return []
    read = view.source(added, 0)
    if read is None or read.type != "ReadVariableOp" or read.inputs[0][0] != node.inputs[0][0]:
        return []
    way = _spread(view, view.source(added, 1))
    return [added, *way] if way else []


def _spread(view: View, node: Node | None) -> list[Node]:
    way: list[Node] = []
    while node is not None and len(way) < _DEEPEST:
        way.append(node)
        if node.type == "UnsortedSegmentSum":
            return way
        if node.type not in _SCALES:
            return []
        whole = [number for number, owner in enumerate(node.inputs) if view.elements(*owner) != 1]
        node = view.source(node, whole[0]) if len(whole) == 1 else None
    return []
