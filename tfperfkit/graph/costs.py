"""Costs of one execution of an operation by the sizes of its tensors: FLOPs, and bytes read and written."""

from __future__ import annotations

from tfperfkit.graph import optable
from tfperfkit.graph.flops import flops
from tfperfkit.graph.model import Graph, Node, Type

#: Moving data in and out of the graph's structure reads and writes nothing by itself.
_STRUCTURE = optable.names(kind=("call", "loop", "branch")) | optable.names(trait="passes")


def cost(graph: Graph, node: Node, open_size: int | None = None) -> float | None:
    """FLOPs, with ``open_size`` instead of open leading dimensions; None if a size is not known."""
    key = (node.name, open_size)
    if key not in graph.costs:
        graph.costs[key] = _cost(graph, node, open_size)
    return graph.costs[key]


def _cost(graph: Graph, node: Node, open_size: int | None) -> float | None:
    inputs = graph.input_types(node)
    count = flops(node, inputs)
    if count is not None or open_size is None:
        return count
    saved = node.outputs
    try:
        node.outputs = tuple(filled(each, open_size) for each in saved)
        return flops(node, [filled(each, open_size) for each in inputs])
    finally:
        node.outputs = saved


def moved(graph: Graph, node: Node, open_size: int | None) -> int:
    """Bytes read and written, as far as sizes are known."""
    if node.type in _STRUCTURE:
        return 0
    key = (node.name, open_size)
    if key not in graph.moved:
        types = (*graph.input_types(node), *node.outputs)
        graph.moved[key] = sum(filled(each, open_size).bytes or 0 for each in types if each.dtype != "resource")
    return graph.moved[key]


def filled(type_: Type, open_size: int | None) -> Type:
    """Return the type with its open first dimension set."""
    if open_size is None or not type_.shape or type_.shape[0] >= 0:
        return type_
    return Type(type_.dtype, (open_size, *type_.shape[1:]))
