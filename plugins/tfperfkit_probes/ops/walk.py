"""Through a function's graph and the bodies it calls: what is executed in one call, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit_probes.ops.flops import flops
from tfperfkit_probes.ops.graph import Graph, Node, Type
from tfperfkit_probes.ops.turns import turns_of

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "XlaLaunch", "TPUPartitionedCall"})
LOOPS = frozenset({"While", "StatelessWhile", "For"})
BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
#: Beginnings of the types that write a variable.
WRITES = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter")
#: Nodes that only pass on, read or name what is there.
PASSING = frozenset(
    {
        "Placeholder",
        "PlaceholderWithDefault",
        "Const",
        "Identity",
        "IdentityN",
        "NoOp",
        "ReadVariableOp",
        "Reshape",
        "Squeeze",
        "ExpandDims",
        "StopGradient",
        "PreventGradient",
        "Shape",
        "Rank",
        "Size",
        "VarHandleOp",
        "_Arg",
        "_Retval",
        "ResourceGather",
    }
)
#: Calls within calls beyond this are not followed: no program is so deep, a damaged file may be.
MAX_DEPTH = 40
#: Operations visited of one function, bodies counted at each call.
MAX_VISITS = 400_000


class Visit(NamedTuple):
    """An operation in its place. ``times`` it runs in one call: 0 in a branch that is not the costliest."""

    graph: Graph
    node: Node
    times: float
    exact: bool  # False in a loop whose number of turns is not known: counted once
    path: str  # names of the calls around it, each followed by a slash
    depth: int


def walk(graph: Graph, open_size: int | None = None) -> Iterator[Visit]:
    """All operations that a call of the graph's function can execute."""
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
        kind = node.type
        if kind in CALLS:
            yield from ((body, 1.0, True) for body in _named(graph, node, "f", "function"))
        elif kind in LOOPS:
            turns = turns_of(graph, node)
            for body in _named(graph, node, "body"):
                yield body, float(1 if turns is None else turns), turns is not None
            for body in _named(graph, node, "cond"):
                yield body, float(1 if turns is None else turns + 1), turns is not None
        elif kind in BRANCHES:
            bodies = list(_named(graph, node, "then_branch", "else_branch", "branches"))
            weights = [self._weight(body, 0) for body in bodies]
            heaviest = weights.index(max(weights)) if weights else -1
            yield from ((body, float(number == heaviest), True) for number, body in enumerate(bodies))
        elif "Dataset" in kind:
            yield from ((body, 1.0, False) for body in _named(graph, node, "f", "predicate"))

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
                names = ("f", "body")
                total += sum(self._weight(body, depth + 1) for body in _named(graph, node, *names))
        self._weights[graph.name] = total
        return total


def cost(graph: Graph, node: Node, open_size: int | None = None) -> float | None:
    """FLOPs of one execution, with ``open_size`` in the place of open leading dimensions; None: not known."""
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


def filled(type_: Type, open_size: int | None) -> Type:
    """The type with its open first dimension set."""
    if open_size is None or not type_.shape or type_.shape[0] >= 0:
        return type_
    return Type(type_.dtype, (open_size, *type_.shape[1:]))


def varies(graph: Graph, node: Node) -> bool:
    """Whether the same inputs may give another result in the next call, or something is changed.

    Reading a variable doesn't count: whoever asks knows which variables change. Of calls, loops and branches the
    bodies tell; a body that was not recorded may do anything.
    """
    bodies = [graph.body(name) for names in node.functions().values() for name in names]
    if node.type not in CALLS | LOOPS | BRANCHES:
        return optable.row(node.type).varies
    return any(body is None or any(optable.row(visit.node.type).varies for visit in walk(body)) for body in bodies)


def _named(graph: Graph, node: Node, *attributes: str) -> Iterator[Graph]:
    held = node.functions()
    for attribute in attributes:
        for name in held.get(attribute, ()):
            body = graph.body(name)
            if body is not None:
                yield body
