"""Variables that are not trained and that no compiled function of the run changes: what follows from them stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfperfkit.graph import optable
from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, MAX_DEPTH
from tfperfkit_probes.ops.stored import FunctionRecord

#: Operations that take a handle and leave the variable unchanged.
_READS = optable.names(trait="reads-variable") | {"VariableShape", "VarIsInitializedOp"}
_HANDS_ON = optable.names(kind=("pass", "noop"))


class Unchanged:
    """All functions of a run, with their graphs; None for a graph that can't be read, whose variables may change.
    ``but_by_training``: functions with gradients don't count, nor that a variable can be trained."""

    def __init__(
        self, functions: Iterable[tuple[FunctionRecord, Graph | None]], *, but_by_training: bool = False
    ) -> None:
        self._changed: dict[str, frozenset[str]] = {}
        known = [each for each in functions if not but_by_training or not _trains(each[1])]
        self._keys = frozenset[str]().union(*(self.find_written(record, graph) for record, graph in known))
        if not but_by_training:
            self._keys |= {variable.key for record, _ in known for variable in record.variables if variable.trainable}

    def find_written(self, record: FunctionRecord, graph: Graph | None) -> frozenset[str]:
        """Return the keys of the variables that a function changes, or may change; "" for one without a key."""
        written = self._find_written(graph, 0) if graph is not None else frozenset[str]()
        return frozenset(each.key for each in record.variables if graph is None or each.placeholder in written)

    def placeholders(self, record: FunctionRecord) -> frozenset[str]:
        """Return the placeholders in the function's graph for variables that nothing changes."""
        return frozenset(
            variable.placeholder
            for variable in record.variables
            if variable.key and variable.placeholder and variable.key not in self._keys
        )

    def _find_written(self, graph: Graph, depth: int) -> frozenset[str]:
        """The placeholders of the graph whose variables it changes, or may change."""
        found = self._changed.get(graph.name)
        if found is None:
            self._changed[graph.name] = frozenset()  # a function that calls itself
            found = self._changed[graph.name] = frozenset(self._changes(graph, depth))
        return found

    def _changes(self, graph: Graph, depth: int) -> Iterator[str]:
        resources = {name for name, node in graph.nodes.items() if _is_handle(node)}
        if not resources:
            return
        for node in graph.nodes.values():
            handles = [(number, name) for number, name in enumerate(_owners(graph, node)) if name in resources]
            if not handles or node.type in _READS | _HANDS_ON:
                continue
            bodies = _bodies(graph, node) if depth < MAX_DEPTH else []
            shift = 1 if node.type in BRANCHES else 0  # the condition comes first
            for number, name in handles:
                if not bodies or any(self._may_change(body, number - shift, depth) for body in bodies):
                    yield name

    def _may_change(self, body: Graph | None, number: int, depth: int) -> bool:
        if body is None:
            return True
        slots = body.slots
        return not 0 <= number < len(slots) or slots[number] in self._find_written(body, depth + 1)


def _trains(graph: Graph | None) -> bool:
    return graph is not None and any(node.backward for node in graph.nodes.values())


def _is_handle(node: Node) -> bool:
    return node.type in ("Placeholder", "VarHandleOp") and bool(node.outputs) and node.outputs[0].dtype == "resource"


def _owners(graph: Graph, node: Node) -> Iterator[str]:
    """Find the origin of each input, past operations that only pass it on."""
    for name, _ in node.inputs:
        owner = graph.made(name)
        yield owner.name if owner is not None else ""


def _bodies(graph: Graph, node: Node) -> list[Graph | None]:
    """Those of a call, a loop or a branch; none for an operation that has none, or uses them in a way of its own."""
    known = node.type in CALLS | LOOPS | BRANCHES
    return [graph.body(name) for names in node.functions().values() for name in names] if known else []
