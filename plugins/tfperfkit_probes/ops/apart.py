"""Whether the copies of an unrolled body need each other's results: if none does, one operation could do for all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tfperfkit.graph import optable
from tfperfkit.graph.model import Graph, Node

#: Operations that join the results of copies: a sum, an extreme, a list. One of them in a row for each copy is no
#: recurrence.
_JOINS = optable.names(trait="joins")
#: A body of fewer operations is no work.
_BODY = 3


def apart(found: Sequence[tuple[Graph, Node]], copies: int) -> bool:
    """Whether the copies do the same to different parts of what goes in.

    ``found``: the forward operations of the body and of what it calls. The longest way through them, sums and lists
    left out, is then no longer than one copy's; with them it is longer by one for each copy at most. And each operation
    of a copy makes the same shape in all.
    """
    if copies < 2 or len(found) < _BODY * copies or not _alike(found, copies):
        return False
    every, others = _longest(found, joins=True), _longest(found, joins=False)
    working = sum(node.type not in _JOINS for _, node in found)
    return others <= working / copies and every <= len(found) / copies + copies


def _alike(found: Sequence[tuple[Graph, Node]], copies: int) -> bool:
    """Whether no shape changes from copy to copy."""
    made: dict[tuple[object, ...], set[object]] = defaultdict(set)
    seen: dict[tuple[object, ...], int] = defaultdict(int)
    for _, node in found:
        key = (node.type, *(node.stack[:1]))
        made[key].add(tuple(str(each) for each in node.outputs))
        seen[key] += 1
    return all(len(shapes) <= max(1, seen[key] // copies) for key, shapes in made.items())


def _longest(found: Sequence[tuple[Graph, Node]], *, joins: bool) -> int:
    """The longest way through the operations, each at its place in the order of the graph."""
    names = {(graph.name, node.name) for graph, node in found}
    length: dict[tuple[str, str], int] = {}
    longest = 0
    for graph in {graph.name: graph for graph, _ in found}.values():
        for node in graph.nodes.values():  # in the order in which they were made: inputs first
            before = max((length.get((graph.name, owner), 0) for owner, _ in node.inputs), default=0)
            inside = (graph.name, node.name) in names and (joins or node.type not in _JOINS)
            length[graph.name, node.name] = before + inside
            longest = max(longest, before + inside)
    return longest
