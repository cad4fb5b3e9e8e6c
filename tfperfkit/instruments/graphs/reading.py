"""Reading the graphs of one trace: operations, the lines that built them, layers, calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tfperfkit.graph import optable
from tfperfkit.graph.flops import COUNTED
from tfperfkit.instruments.graphs import flops
from tfperfkit.instruments.graphs.building import Building, Started, started_before
from tfperfkit.instruments.graphs.repeats import Called, assigns, draws, layer_calls
from tfperfkit.instruments.graphs.same_stacks import same_stacks
from tfperfkit.instruments.graphs.stacks import Stacks
from tfperfkit.instruments.graphs.stages import stages_of
from tfperfkit.instruments.graphs.tensors import Tensors
from tfperfkit.records.graphs import Graph, Graphs, Layer

#: Operations kept of one trace. The largest networks in use have some ten thousand.
MAX_OPERATIONS = 60_000
_FUNCTIONS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_RUNTIME_NAME = re.compile(r"^(?:__(?:inference|forward)_)(?P<name>.*?)(?:_\d+)*$")


class Reading:
    """Reads the graphs of one trace and what they call."""

    def __init__(self, building: Building, is_user: Callable[[str], bool]) -> None:
        self._building = building
        self._stacks = Stacks(is_user)
        self._tensors = Tensors()
        self._types: dict[str, int] = {}
        self._layers: dict[int, int] = {}
        self._layer_rows: list[Layer] = []
        self._kept = self._left_out = 0
        self._started: dict[int, Sequence[Started]] = {}  # by number of a graph: where replicas began in it

    def read(self, roots: list[tuple[str, Any]]) -> Graphs:
        functions: dict[str, int] = {}
        numbers: dict[int, int] = {}
        graphs: list[Any] = []
        waiting = list(reversed(roots))
        while waiting:
            name, graph = waiting.pop()
            if graph is None or name in functions:
                continue
            if id(graph) not in numbers:
                numbers[id(graph)] = len(graphs)
                graphs.append(graph)
                nested = getattr(graph, "_functions", None) or {}
                waiting += [(text_of(key), getattr(item, "graph", None)) for key, item in nested.items()]
            functions[name] = numbers[id(graph)]
        self._find_started(graphs, functions)
        rows = [self._graph(graph, numbers) for graph in graphs]
        self._stacks.finish()
        records = []
        for make in rows:
            records.append(make())
        stacks = self._stacks
        return Graphs(
            functions=functions,
            graphs=records,
            types=list(self._types),
            files=stacks.files,
            frames=stacks.frames,
            stacks=stacks.stacks,
            areas=stacks.areas,
            layers=self._layer_rows,
            tensors=self._tensors.texts,
            left_out=self._left_out,
        )

    def _graph(self, graph: Any, numbers: dict[int, int]) -> Callable[[], Graph]:
        """First half: what needs each operation. The second half runs when the stacks are known."""
        operations = graph.get_operations()
        room = max(MAX_OPERATIONS - self._kept, 0)
        self._left_out += max(len(operations) - room, 0)
        operations = operations[:room]
        self._kept += len(operations)
        names = [operation.name for operation in operations]
        kinds = [operation.type for operation in operations]
        number = numbers[id(graph)]
        scopes = self._building.scopes.get(id(graph), {})
        added = self._building.gradients.get(id(graph), [])
        same = same_stacks(names, kinds, scopes, added)
        stacks = self._stacks.add(str(number), operations, names, same, self._started.get(number, ()))
        calls: dict[int, list[str]] = {}
        work: dict[int, tuple[float, int]] = {}
        takes: dict[int, list[int]] = {}
        makes: dict[int, list[int]] = {}
        for index, kind in enumerate(kinds):
            types_of = self._tensors.of(operations[index], kind)
            if types_of is not None:
                takes[index], makes[index] = types_of
            if kind in COUNTED:
                amount = flops.work(operations[index])
                if amount is not None:
                    work[index] = (amount.coefficient, amount.power)
            elif _calls(kind):
                called = _called(operations[index])
                if called:
                    calls[index] = called
        types = [self._types.setdefault(kind, len(self._types)) for kind in kinds]
        layers = {scope: self._layer(owner) for scope, owner in scopes.items() if hasattr(owner, "_inbound_nodes")}
        optimizers = {scope for scope, owner in scopes.items() if not hasattr(owner, "_inbound_nodes")}
        known = {name: index for index, name in enumerate(names)}
        # A loop that is differentiated gets inputs that were built after it: they don't make it a gradient.
        inputs = (
            [
                [source for tensor in operation.inputs if (source := known.get(tensor.op.name, index)) < index]
                for index, operation in enumerate(operations)
            ]
            if added or layers or any(kinds[index] in _FUNCTIONS for index in calls)
            else []
        )

        def finish() -> Graph:
            stages, forward = stages_of(inputs, stacks, self._stacks, added, numbers)
            differentiated = {
                index: known[name] for index, (of, name) in forward.items() if of == number and name in known
            }
            repeated = layer_calls(
                names,
                kinds,
                stacks,
                inputs,
                stages,
                differentiated,
                layers,
                optimizers,
                self._stacks.innermost(),
                self._functions(graph, kinds, calls),
                _variables(operations, kinds),
            )
            return Graph(
                id=number,
                name=str(getattr(graph, "name", "")),
                operations=names,
                types=types,
                stacks=stacks,
                stages=stages,
                forward=forward,
                calls=calls,
                layers=list(layers.items()),
                layer_calls=repeated,
                work=work,
                takes=takes,
                makes=makes,
            )

        return finish

    def _find_started(self, graphs: list[Any], functions: dict[str, int]) -> None:
        """Where replicas began; of loops and conditions that they built, where in the graph around."""
        known = self._building.replicas
        waiting = [number for number, graph in enumerate(graphs) if id(graph) in known]
        self._started = {number: known[id(graphs[number])] for number in waiting}
        while waiting:
            outer = waiting.pop()
            for index, operation in enumerate(graphs[outer].get_operations()[:MAX_OPERATIONS]):
                for name in _called(operation) if _calls(operation.type) else ():
                    inner = functions.get(name)
                    if inner is not None and inner not in self._started:
                        self._started[inner] = [started_before(self._started[outer], index)._replace(begin=0)]
                        waiting.append(inner)

    def _functions(self, graph: Any, kinds: list[str], calls: dict[int, list[str]]) -> list[Called]:
        """The calls of compiled functions, each function as a layer; what is not called twice is left out."""
        nested = getattr(graph, "_functions", None) or {}
        bodies = {text_of(name): getattr(item, "graph", None) for name, item in nested.items()}
        called = {index: item[0] for index, item in calls.items() if kinds[index] in _FUNCTIONS and len(item) == 1}
        often = Counter(id(bodies.get(name)) for name in called.values())
        found = []
        for index, name in called.items():
            body = bodies.get(name)
            if body is not None and often[id(body)] > 1:
                inside = _kinds(body)
                found.append(Called(index, self._function(body, name), draws(inside), assigns(inside)))
        return found

    def _function(self, body: Any, name: str) -> int:
        number = self._layers.get(id(body))
        if number is None:
            number = self._layers[id(body)] = len(self._layer_rows)
            match = _RUNTIME_NAME.match(name)
            self._layer_rows.append(Layer(match["name"] if match else name, "tf.function"))
        return number

    def _layer(self, layer: Any) -> int:
        number = self._layers.get(id(layer))
        if number is None:
            number = self._layers[id(layer)] = len(self._layer_rows)
            self._layer_rows.append(Layer(str(layer.name), type(layer).__name__, _shape(layer)))
        return number


def _variables(operations: list[Any], kinds: list[str]) -> set[int]:
    """The operations that hand variables, and other resources, into a graph."""
    handed = (index for index, kind in enumerate(kinds) if kind == "Placeholder")
    return {index for index in handed if operations[index].outputs[0].dtype.name == "resource"}


def _kinds(graph: Any) -> set[str]:
    """The types of operations in a graph and in all that it calls."""
    found: set[str] = set()
    pending, seen = [graph], {id(graph)}
    while pending:
        here = pending.pop()
        found.update(operation.type for operation in here.get_operations())
        for item in (getattr(here, "_functions", None) or {}).values():
            inner = getattr(item, "graph", None)
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                pending.append(inner)
    return found


def _calls(kind: str) -> bool:
    """Whether operations of this type may name functions."""
    row = optable.row(kind)
    return bool(row.functions) or not row.known


def _called(operation: Any) -> list[str]:
    found = []
    for value in operation.node_def.attr.values():
        if value.HasField("func"):
            found.append(value.func.name)
        found += [item.name for item in value.list.func]
    return found


def _shape(layer: Any) -> str:
    try:
        shape = layer._inbound_nodes[-1].output_tensors[0].shape
        return "×".join("?" if size is None else str(size) for size in shape[1:])
    except Exception:
        return ""


def text_of(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
