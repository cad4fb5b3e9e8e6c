"""Facts about a function's placeholders, passed to the graphs that it calls and to its loops.

A fact is any value: for how many calls an argument stays, its share of zeros. A call hands on the facts of what it is
given. An argument of a loop's iteration keeps its fact only if the loop passes the argument on as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, WRITES, walk

Fact = TypeVar("Fact")
_NO_VALUES = frozenset({"resource", "variant", ""})
_CALLING = CALLS | LOOPS | BRANCHES


def hand_on(
    root: Graph,
    start: Mapping[str, Fact],
    *,
    constant: Callable[[Graph, Node], Fact | None] = lambda graph, node: None,
    loop: Callable[[Graph, Node, Graph, Mapping[str, Fact]], Mapping[str, Fact]] = lambda graph, node, body, given: {},
) -> dict[str, dict[str, Fact]]:
    """By graph, the facts of its placeholders. For a graph that is called twice, the facts that hold in both calls.

    ``start``: facts of the root's placeholders. ``constant``: that of an operation that is not a placeholder. ``loop``:
    the facts of a loop's body, by what the loop is given at first.
    """
    found: dict[str, dict[str, Fact]] = {root.name: dict(start)}
    pending = [root]
    while pending:
        here = pending.pop()
        for node in here.calling:
            for body, first in _bodies(here, node):
                owners = (here.made(name) for name, _ in node.inputs[first:])
                facts = (_fact(here, owner, found[here.name], constant) for owner in owners)
                given = {slot: fact for slot, fact in zip(body.slots, facts, strict=False) if fact is not None}
                mine = dict(loop(here, node, body, given)) if node.type in LOOPS else given
                known = found.get(body.name)
                if known is not None:
                    mine = {slot: fact for slot, fact in known.items() if mine.get(slot) == fact}
                if mine != known:
                    found[body.name] = mine
                    pending.append(body)
    return found


def _fact(
    graph: Graph, owner: Node | None, mine: Mapping[str, Fact], constant: Callable[[Graph, Node], Fact | None]
) -> Fact | None:
    if owner is None:
        return None
    return mine.get(owner.name) if owner.type == "Placeholder" else constant(graph, owner)


def _bodies(graph: Graph, node: Node) -> list[tuple[Graph, int]]:
    """Return the bodies that an operation calls, each with the number of the input that goes into its first slot."""
    if node.type not in _CALLING:
        return []
    functions = node.functions()
    names = functions.get("body", []) if node.type in LOOPS else [name for each in functions.values() for name in each]
    first = 1 if node.type in BRANCHES else 0
    return [(body, first) for name in names if (body := graph.body(name)) is not None]


def graphs_in(roots: Iterable[Graph]) -> dict[str, Graph]:
    """Graphs and all that they call, by name."""
    found: dict[str, Graph] = {}
    pending = list(roots)
    while pending:
        here = pending.pop()
        if here.name not in found:
            found[here.name] = here
            pending += [body for node in here.calling for body, _ in _bodies(here, node)]
    return found


def bodies_of_loops(root: Graph) -> frozenset[str]:
    """Return the names of the graphs that run in a loop: bodies, and what these call."""
    return frozenset(
        graphs_in(
            body
            for graph in graphs_in([root]).values()
            for node in graph.calling
            if node.type in LOOPS
            for body, _ in _bodies(graph, node)
        )
    )


def kept(body: Graph) -> frozenset[str]:
    """Return the placeholders that an iteration passes on to the next as they are: captures, arguments that it returns,
    variables that it doesn't write.

    Such a variable is the same in all iterations, also if it is trained after the loop.
    """
    returned = dict(zip(body.slots, body.record.results, strict=False))
    written = {
        owner.name
        for node in body.nodes.values()
        if may_write(body, node)
        for name, _ in node.inputs
        if (owner := body.made(name)) is not None
    }
    found = set()
    for slot in body.slots:
        if body.type_of(slot).dtype == "resource":
            stays = slot not in written
        elif slot in returned:
            result = body.made(returned[slot])
            stays = result is not None and result.name == slot
        else:
            stays = slot in body.record.captures
        if stays and body.type_of(slot).dtype not in _NO_VALUES - {"resource"}:
            found.add(slot)
    return frozenset(found)


def may_write(graph: Graph, node: Node) -> bool:
    """Return whether an operation assigns to a variable, or calls a body that does."""
    if node.type not in _CALLING:
        return node.type in WRITES
    bodies = [graph.body(name) for names in node.functions().values() for name in names]
    return not bodies or any(body is None or any(visit.node.type in WRITES for visit in walk(body)) for body in bodies)


def staying(root: Graph, unchanged: frozenset[str] = frozenset()) -> dict[str, frozenset[str]]:
    """By graph, the placeholders that are the same in every call of the root: captured tensors, and the variables that
    are ``unchanged``; in the body of a loop, those that are the same in every iteration."""
    captured = {name for name in root.record.captures if root.type_of(name).dtype not in _NO_VALUES}
    start = dict.fromkeys((*unchanged.intersection(root.record.captures), *captured), True)
    found = hand_on(
        root,
        start,
        constant=lambda graph, node: True if node.type == "Const" else None,
        loop=lambda graph, node, body, given: dict.fromkeys(kept(body), True),
    )
    return {name: frozenset(facts) for name, facts in found.items()}


def repeated(
    root: Graph, calls: Mapping[str, float], unknown_iterations: int, least: int
) -> dict[str, dict[str, float]]:
    """By graph, for how many calls in a row a placeholder is the same, or iterations of a loop.

    ``calls``: of the root's arguments. A loop with fewer than ``least`` iterations repeats nothing.
    """

    def of_loop(graph: Graph, node: Node, body: Graph, given: Mapping[str, float]) -> dict[str, float]:
        times = float(iterations_of(graph, node) or unknown_iterations)
        return dict.fromkeys(sorted(kept(body)), times) if times >= least else {}

    return hand_on(root, calls, loop=of_loop)


def of_values(root: Graph, read: Callable[[Graph], Mapping[str, Fact]]) -> dict[str, dict[str, Fact]]:
    """By graph, what is known of the values of its placeholders and constants. ``read``: what a graph's record says."""
    found = hand_on(
        root,
        read(root),
        constant=lambda graph, node: read(graph).get(node.name),
        loop=lambda graph, node, body, given: {slot: given[slot] for slot in kept(body) if slot in given},
    )
    return {name: {**read(graph), **found.get(name, {})} for name, graph in graphs_in([root]).items()}
