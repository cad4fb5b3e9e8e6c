"""Goes through a function's graph and the bodies that it calls: what one call executes, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.costs import cost
from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Graph, Node

CALLS = optable.names(kind="call")
LOOPS = optable.names(kind="loop")
BRANCHES = optable.names(kind="branch")
#: Operations that write a variable.
WRITES = optable.names(kind="write")
#: Operations that only pass on, read or name what is there.
PASSING = optable.names(trait="passes")
#: Calls within calls beyond this are not followed: no program is so deep, but a damaged file may be.
MAX_DEPTH = 40
#: Operations visited of one function, bodies counted at each call.
MAX_VISITS = 400_000


class Visit(NamedTuple):
    """An operation in its place. ``times``: how often it runs in one call; 0 in a branch that is not the costliest.

    ``exact``: False in a loop whose number of iterations is not known; such a loop counts once. ``path``: the names of
    the calls around the operation, each followed by a slash.
    """

    graph: Graph
    node: Node
    times: float
    exact: bool
    path: str
    depth: int

    @property
    def backward(self) -> bool:
        """Return whether the operation, or a call around it, belongs to a gradient."""
        return self.node.backward or "gradient_tape/" in self.path


def walk(graph: Graph, open_size: int | None = None) -> Iterator[Visit]:
    """Yield all operations that a call of the graph's function can execute."""
    yield from _Walker(open_size).visit(graph, 1.0, True, "", 0)


class _Walker:
    def __init__(self, open_size: int | None) -> None:
        self._open_size = open_size
        self._weights: dict[str, float] = {}
        self._visits = 0

    def visit(self, graph: Graph, times: float, exact: bool, path: str, depth: int) -> Iterator[Visit]:
        for node in graph.nodes.values():
            self._visits += 1
            if self._visits > MAX_VISITS:
                return
            yield Visit(graph, node, times, exact, path, depth)
            if depth < MAX_DEPTH:
                for body, factor, known in self._bodies(graph, node):
                    yield from self.visit(body, times * factor, exact and known, f"{path}{node.name}/", depth + 1)

    def _bodies(self, graph: Graph, node: Node) -> Iterator[tuple[Graph, float, bool]]:
        kind = optable.row(node.type).kind
        if kind == "call":
            yield from ((body, 1.0, True) for body in bodies_of(graph, node, "f", "function"))
        elif kind == "loop":
            times = iterations_of(graph, node)
            for body in bodies_of(graph, node, "body"):
                yield body, float(1 if times is None else times), times is not None
            for body in bodies_of(graph, node, "cond"):
                yield body, float(1 if times is None else times + 1), times is not None
        elif kind == "branch":
            bodies = list(bodies_of(graph, node, "then_branch", "else_branch", "branches"))
            weights = [self._weight(body, 0) for body in bodies]
            heaviest = weights.index(max(weights)) if weights else -1
            yield from ((body, float(number == heaviest), True) for number, body in enumerate(bodies))
        elif kind == "dataset":
            yield from ((body, 1.0, False) for body in bodies_of(graph, node, "f", "predicate"))

    def _weight(self, graph: Graph, depth: int) -> float:
        """FLOPs of a body, then its operations: to choose among branches."""
        known = self._weights.get(graph.name)
        if known is not None:
            return known
        self._weights[graph.name] = 0.0
        total = len(graph.nodes) * 1e-6
        for node in graph.nodes.values():
            total += cost(graph, node, self._open_size) or 0.0
            if depth < MAX_DEPTH and node.type in CALLS | LOOPS:
                total += sum(self._weight(body, depth + 1) for body in bodies_of(graph, node, "f", "body"))
        self._weights[graph.name] = total
        return total


def varies(graph: Graph, node: Node) -> bool:
    """Return whether the same inputs may give another result in the next call, or something is changed.

    Reading a variable doesn't count: whoever asks knows which variables change. Of calls, loops and branches the
    bodies tell; a body that was not recorded may do anything.
    """
    if node.type not in CALLS | LOOPS | BRANCHES:
        return optable.row(node.type).varies
    bodies = [graph.body(name) for names in node.functions().values() for name in names]
    return any(body is None or any(optable.row(visit.node.type).varies for visit in walk(body)) for body in bodies)


def bodies_of(graph: Graph, node: Node, *attributes: str) -> Iterator[Graph]:
    """Yield the recorded bodies that an operation names in these attributes."""
    held = node.functions()
    for attribute in attributes:
        for name in held.get(attribute, ()):
            body = graph.body(name)
            if body is not None:
                yield body
