"""What stays the same in a graph: from call to call of a function, or from iteration to iteration of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, WRITES, walk

_NEVER = frozenset({"resource", "variant", ""})
_DEPTH = 12


class Staying(NamedTuple):
    """A graph, the placeholders whose values stay, and whether that is from iteration to iteration of a loop."""

    graph: Graph
    names: frozenset[str]
    in_loop: bool = False


def staying(root: Graph, unchanged: frozenset[str] = frozenset()) -> dict[str, Staying]:
    """By graph: of the function that is called, captured tensors, which never change, and the variables that are
    ``unchanged``, by their placeholders; of those that it calls, what goes on from there; of the body of a loop, what
    the loop hands on as it is. Of a graph that is called twice, what stays in both."""
    captured = {name for name in root.record.captures if root.type_of(name).dtype not in _NEVER}
    found = {root.name: Staying(root, unchanged.intersection(root.record.captures) | captured)}
    pending = [root.name]
    while pending:
        here = found[pending.pop()]
        for body, names, in_loop in _called(here):
            known = found.get(body.name)
            if known is None:
                pending.append(body.name)
            found[body.name] = Staying(body, names if known is None else names & known.names, in_loop)
    return found


def _called(here: Staying) -> Iterator[tuple[Graph, frozenset[str], bool]]:
    for node in here.graph.nodes.values():
        functions = node.functions()
        for name in functions.get("body" if node.type in LOOPS else "f", ()):
            body = here.graph.body(name) if node.type in LOOPS | CALLS else None
            if body is None:
                continue
            pairs = zip(body.slots, node.inputs, strict=False)
            given = frozenset(slot for slot, (owner, _) in pairs if _stays(here, owner))
            if node.type in LOOPS:
                yield body, kept(body) | unwritten(body), True
            else:
                yield body, given, here.in_loop


def unwritten(body: Graph) -> frozenset[str]:
    """The handles of variables that no turn assigns to: each turn finds the same in them, also where they are trained
    once the loop is done."""
    handles = frozenset(slot for slot in body.slots if body.type_of(slot).dtype == "resource")
    written = {owner_of(body, name) for node in body.nodes.values() if _writes(body, node) for name, _ in node.inputs}
    return handles - written


def _writes(graph: Graph, node: Node) -> bool:
    """Whether an operation assigns to a variable, or calls a body that does."""
    if node.type in CALLS | LOOPS | BRANCHES:
        bodies = [graph.body(name) for names in node.functions().values() for name in names]
        return any(body is None or any(visit.node.type in WRITES for visit in walk(body)) for body in bodies)
    return node.type in WRITES


def slots_of(body: Graph) -> list[str]:
    """The placeholders of a body in the order of the operation's inputs; captures come last."""
    return [*body.record.arguments, *body.record.captures]


def kept(body: Graph) -> frozenset[str]:
    """Captures, and arguments that the body gives back."""
    given_back = dict(zip(body.slots, body.record.results, strict=False))
    return frozenset(
        slot
        for slot in body.slots
        if body.type_of(slot).dtype not in _NEVER
        and (slot in body.record.captures if slot not in given_back else _same(body, slot, given_back[slot]))
    )


def _same(body: Graph, slot: str, result: str) -> bool:
    node = _behind(body, result)
    return node is not None and node.name == slot


def owner_of(graph: Graph, name: str) -> str:
    """The node that makes a tensor, past what only passes it on; "" where it is not known."""
    node = _behind(graph, name)
    return node.name if node is not None else ""


def _stays(here: Staying, owner: str) -> bool:
    node = _behind(here.graph, owner)
    return node is not None and (node.type == "Const" or node.name in here.names)


def _behind(graph: Graph, name: str) -> Node | None:
    node = graph.nodes.get(name)
    for _ in range(_DEPTH):
        if node is None or node.type != "Identity" or not node.inputs:
            return node
        node = graph.nodes.get(node.inputs[0][0])
    return node
