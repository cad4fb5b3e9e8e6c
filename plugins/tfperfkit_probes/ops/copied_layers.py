"""Keras layers that the graph contains once for each step of a sequence, as TimeDistributed copies them."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.graph.model import Graph, Node
from tfperfkit_probes.ops.model import CopiedLayer

_DEEPEST = 4000


def copied_layers(graphs: Sequence[Graph]) -> list[CopiedLayer]:
    """By results that are stacked in the scope of a layer: each of a slice of one tensor whose first two axes were
    swapped there, and none of another."""
    copies: dict[str, int] = {}
    for graph in graphs:
        for node in graph.nodes.values():
            if node.type == "Pack" and "/" in node.name and not node.backward:
                scope = node.name.rpartition("/")[0]
                if _each_of_a_slice(graph, node, scope):
                    copies[scope] = max(copies.get(scope, 0), len(node.inputs))
    counts = dict.fromkeys(copies, 0)
    for graph in graphs if copies else ():
        for name in graph.nodes:
            for scope in copies:
                counts[scope] += name.startswith(f"{scope}/") or f"/{scope}/" in name
    return [CopiedLayer(layer=scope, copies=copies[scope], operations=counts[scope]) for scope in copies]


def _each_of_a_slice(graph: Graph, stack: Node, scope: str) -> bool:
    owners = [graph.nodes.get(owner) for owner, _ in stack.inputs]
    ends = (owners[0], owners[-1])
    if len(owners) < 2 or None in owners or len({owner.type for owner in owners if owner is not None}) > 1:
        return False
    slices = [_slice(graph, owner, scope, {each.name for each in owners if each is not None}) for owner in ends]
    first, last = slices
    return first is not None and last is not None and first.inputs[0] == last.inputs[0] and first is not last


def _slice(graph: Graph, last: Node | None, scope: str, stacked: set[str]) -> Node | None:
    """The one slice of the swapped tensor that a result follows from; None where there is none, where it follows from
    several or from another of the results."""
    found = None
    pending, seen = [last], set[str]()
    while pending and len(seen) < _DEEPEST:
        node = pending.pop()
        if node is None or node.name in seen or not node.name.startswith(f"{scope}/"):
            continue
        seen.add(node.name)
        if node is not last and node.name in stacked:
            return None
        source = graph.nodes.get(node.inputs[0][0]) if node.inputs else None
        if node.type == "StridedSlice" and source is not None and _swaps(graph, source, scope):
            if found is not None:
                return None
            found = node
        else:
            pending += [graph.nodes.get(owner) for owner, _ in node.inputs]
    return found


def _swaps(graph: Graph, node: Node, scope: str) -> bool:
    """Return whether a node is a transposition in the layer itself of steps and examples."""
    made = graph.type_of(node.name).shape
    given = graph.type_of(*node.inputs[0]).shape if node.inputs else None
    swapped = bool(made) and bool(given) and made is not None and given is not None and made[:2] == given[1::-1]
    return node.type == "Transpose" and node.name.startswith(f"{scope}/") and swapped
