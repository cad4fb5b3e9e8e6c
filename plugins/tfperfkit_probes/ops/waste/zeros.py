"""Products with a constant matrix of which nearly all numbers are zero."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.graph import Graph, Node
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.walk import CALLS
from tfperfkit_probes.ops.waste import numbers
from tfperfkit_probes.ops.waste.view import View

KIND = "zeros"
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})


def zeros(view: View) -> Iterator[Wasted]:
    """By captured tensors and constants whose numbers were looked at when the function was traced."""
    for node in view.forward:
        if node.type not in _PRODUCTS or len(node.inputs) != 2:
            continue
        for number in (0, 1):
            matrix = view.source(node, number)
            share = view.zeros.get(matrix.name) if matrix is not None else None
            if matrix is None or share is None:
                continue
            # Of a sample without a single other number it is at most one in as many as it has.
            filled = max(1 - share, 1e-5)
            if filled * numbers.SPARSE_SLOWER.value < 1:
                yield Wasted(
                    kind=KIND,
                    where=node.place,
                    operations=[node.name],
                    left=filled * numbers.SPARSE_SLOWER.value,
                    figures={"numbers": float(view.elements(matrix.name) or 0), "filled": filled},
                )
                break


def known_zeros(root: Graph) -> dict[str, dict[str, float]]:
    """By graph, the placeholders and constants that are nearly all zeros: what a function captures, those that it calls
    are given."""
    found: dict[str, dict[str, float]] = {root.name: dict(root.record.zeros)}
    pending = [root]
    while pending:
        here = pending.pop()
        mine = found[here.name]
        for node in here.nodes.values() if mine or here is root else ():
            for body in _called(here, node):
                slots = [*body.record.arguments, *body.record.captures]
                given = {
                    slot: mine[owner] for slot, (owner, _) in zip(slots, node.inputs, strict=False) if owner in mine
                }
                if body.name not in found:
                    found[body.name] = {**body.record.zeros, **given}
                    pending.append(body)
    return found


def _called(graph: Graph, node: Node) -> Iterator[Graph]:
    for name in node.functions().get("f", ()) if node.type in CALLS else ():
        body = graph.body(name)
        if body is not None:
            yield body
