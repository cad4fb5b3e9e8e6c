"""Results that a training function computes again in each epoch, although they never change for an example: operations
that depend on the batch, and on no variable that the function changes, no random number and no Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tfperfkit.graph import optable
from tfperfkit.graph.costs import filled
from tfperfkit.graph.facts import may_write
from tfperfkit.graph.model import Graph, Node, Type
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, WRITES, varies
from tfperfkit.offers import FixedOperations, FixedWork
from tfperfkit_probes.ops.stored import FunctionRecord

#: Operations between the mean of a batch and the variable that follows it: a difference, a product, a sum.
_STATISTICS_DEPTH = 4
_BODIES = CALLS | LOOPS | BRANCHES


def fixed_work(functions: Iterable[tuple[FunctionRecord, Graph | None]]) -> FixedWork:
    """Of functions with their graphs."""
    known = [(record, graph) for record, graph in functions if graph is not None]
    found = (fixed(record, graph) for record, graph in known)
    others = sum(record.owner == "user" and _only_writes(graph) for record, graph in known)
    return FixedWork(functions=tuple(item for item in found if item is not None), writers=others)


def _only_writes(graph: Graph) -> bool:
    nodes = graph.nodes.values()
    return any(node.type in WRITES for node in nodes) and not any(node.backward for node in nodes)


def fixed(record: FunctionRecord, graph: Graph) -> FixedOperations | None:
    """None where nothing that depends on the arguments is so, or the function changes no variable."""
    nodes = graph.nodes
    arguments = [name for name in graph.record.arguments if _is_tensor(nodes.get(name))]
    written = set(_list_written(graph))
    if not written or not arguments or not any(node.backward for node in nodes.values()):
        return None
    same = _same(graph, arguments, written)
    if not same:
        return None
    return FixedOperations(
        graph=record.graph,
        owner=record.owner,
        file=record.file,
        line=record.line,
        operations=tuple(sorted(same)),
        kept_bytes=_kept(graph, same),
        arguments=tuple(_text(graph.type_of(name)) for name in arguments),
    )


def _list_written(graph: Graph) -> Iterator[str]:
    """Yield the variables that are assigned to, and those that are given to a call or a branch that assigns: a loss
    scale's optimizer updates the weights in a branch."""
    for node in graph.nodes.values():
        if node.type in WRITES:
            yield _resource(graph, node)
        elif node.type in _BODIES and may_write(graph, node):
            for (name, _), kind in zip(node.inputs, graph.input_types(node), strict=False):
                if kind.dtype == "resource":
                    yield name


def _same(graph: Graph, arguments: list[str], written: set[str]) -> set[str]:
    """The operations of the forward pass that give the same for the same example. Behind the mean of a batch that a
    variable follows, as a normalisation in training keeps it, what an example gives depends on the others."""
    nodes = graph.nodes
    means: set[str] = set()
    while True:
        varies = set(means)
        follows = set(arguments)  # what depends on them
        for node in nodes.values():
            if _varies(graph, node, written) or any(name in varies for name, _ in node.inputs):
                varies.add(node.name)
            if any(name in follows for name, _ in node.inputs):
                follows.add(node.name)
        same = {name for name in follows.difference(varies, arguments) if not nodes[name].backward}
        more = _followed(graph, same, means)
        if not more:
            return same
        means |= more


def _followed(graph: Graph, same: set[str], known: set[str]) -> set[str]:
    """Those of the operations whose results variables follow, besides the known ones: means of a batch. The sums of a
    metric are numbers, not vectors."""
    nodes = graph.nodes
    found: set[str] = set()
    for node in nodes.values():
        if node.type not in WRITES:
            continue
        front = {name for name, _ in node.inputs[1:]}
        for _ in range(_STATISTICS_DEPTH):
            found |= {name for name in front if name in same and _is_vector(nodes[name])}
            front = {
                name
                for at in front
                if at in nodes and at not in same and at not in known and not nodes[at].backward
                for name, _ in nodes[at].inputs
            }
    return found


def _is_vector(node: Node) -> bool:
    kind = node.outputs[0] if node.outputs else None
    return kind is not None and kind.dtype.startswith(("float", "bfloat", "half")) and bool(kind.shape)


def _text(kind: Type) -> str:
    return str(kind).replace("None", "?")


def _is_tensor(node: Node | None) -> bool:
    return node is not None and bool(node.outputs) and node.outputs[0].dtype not in ("resource", "variant")


def _varies(graph: Graph, node: Node, written: set[str]) -> bool:
    """Whether an operation gives other results for the same inputs. A call is taken for one that does, where it draws
    random numbers, or gets a variable that this function changes or may change in it."""
    if "reads-variable" in optable.row(node.type).traits:
        return _resource(graph, node) in written
    if node.type in _BODIES and any(kind.dtype == "resource" for kind in graph.input_types(node)):
        return True
    return varies(graph, node)


def _resource(graph: Graph, node: Node) -> str:
    """The placeholder of the variable that an operation reads or writes."""
    name = node.inputs[0][0] if node.inputs else ""
    while (owner := graph.nodes.get(name)) is not None and owner.type == "Identity" and owner.inputs:
        name = owner.inputs[0][0]
    return name


def _kept(graph: Graph, same: set[str]) -> int | None:
    """Bytes of what the forward pass takes from these operations: what would be kept in their place. Open first
    dimensions count as one; None where others are open."""
    taken: dict[str, set[int]] = defaultdict(set)
    for node in graph.nodes.values():
        if node.name not in same and not node.backward:
            for name, number in node.inputs:
                if name in same:
                    taken[name].add(number)
    total = 0
    for name, numbers in taken.items():
        for number in numbers:
            kind = graph.type_of(name, number)
            if kind.dtype in ("int32", "bool") and len(kind.shape or ()) <= 1:
                continue  # a shape
            size = filled(kind, 1).bytes
            if size is None:
                return None
            total += size
    return total
