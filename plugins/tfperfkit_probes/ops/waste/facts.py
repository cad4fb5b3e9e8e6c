"""What is known of tensors by their numbers, in a function and in those that it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from tfperfkit.records.graph_contents import GraphContents
from tfperfkit_probes.ops.graph import Graph, Node
from tfperfkit_probes.ops.walk import CALLS

Fact = TypeVar("Fact")


def facts_of(root: Graph, read: Callable[[GraphContents], Mapping[str, Fact]]) -> dict[str, dict[str, Fact]]:
    """By graph, what ``read`` tells of its placeholders and constants: what a function captures, those that it calls
    are given."""
    found: dict[str, dict[str, Fact]] = {root.name: dict(read(root.record))}
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
                    found[body.name] = {**read(body.record), **given}
                    pending.append(body)
    return found


def _called(graph: Graph, node: Node) -> Iterator[Graph]:
    for name in node.functions().get("f", ()) if node.type in CALLS else ():
        body = graph.body(name)
        if body is not None:
            yield body
