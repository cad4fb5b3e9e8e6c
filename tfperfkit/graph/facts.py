"""What is known of tensors by their numbers, in a function, in those that it calls and in its loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.staying import kept
from tfperfkit.graph.walk import CALLS, LOOPS
from tfperfkit.records.graph_contents import GraphContents

Fact = TypeVar("Fact")


def facts_of(root: Graph, read: Callable[[GraphContents], Mapping[str, Fact]]) -> dict[str, dict[str, Fact]]:
    """By graph, what ``read`` tells of its placeholders and constants: what a function captures, those that it calls
    are given, and what a loop hands on to each iteration as it is."""
    found: dict[str, dict[str, Fact]] = {root.name: dict(read(root.record))}
    pending = [root]
    while pending:
        here = pending.pop()
        mine = found[here.name]
        for node in here.nodes.values() if mine or here is root else ():
            for body in _called(here, node):
                pairs = zip(body.slots, node.inputs, strict=False)
                given = {slot: mine[owner] for slot, (owner, _) in pairs if owner in mine}
                if given and node.type in LOOPS:
                    given = {slot: given[slot] for slot in kept(body) if slot in given}
                if body.name not in found:
                    found[body.name] = {**read(body.record), **given}
                    pending.append(body)
    return found


def _called(graph: Graph, node: Node) -> Iterator[Graph]:
    role = "f" if node.type in CALLS else "body" if node.type in LOOPS else ""
    for name in node.functions().get(role, ()) if role else ():
        body = graph.body(name)
        if body is not None:
            yield body
