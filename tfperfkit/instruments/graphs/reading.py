"""Reads the graphs of a trace, each once: the records that everything else is computed from, without TensorFlow."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tfperfkit.graph import optable
from tfperfkit.instruments.graphs import snapshot
from tfperfkit.instruments.graphs.building import Building, Started, started_before
from tfperfkit.instruments.graphs.equal_stacks import EqualStacks
from tfperfkit.instruments.graphs.stack_choice import choose_stacks
from tfperfkit.instruments.graphs.stacks import Found, Stacks, tabulate
from tfperfkit.records.graph_contents import MAX_OPERATIONS, Added, GraphContents, Layer


class Made(NamedTuple):
    """A graph at the time when TensorFlow made a function from it.

    Its inputs and outputs are noted then: a gradient adds results.
    """

    name: str
    graph: Any
    arguments: tuple[str, ...]
    captures: tuple[str, ...]
    results: tuple[tuple[str, int], ...]

    @classmethod
    def from_graph(cls, name: Any, graph: Any) -> Made:
        captures = tuple(internal.op.name for _, internal in getattr(graph, "captures", ()))
        hidden = set(captures)
        arguments = (tensor.op.name for tensor in getattr(graph, "inputs", ()))
        results = (tensor for tensor in getattr(graph, "outputs", ()) if tensor is not None)
        return cls(
            text_of(name),
            graph,
            tuple(argument for argument in arguments if argument not in hidden),
            captures,
            tuple((tensor.op.name, tensor.value_index) for tensor in results),
        )


class Known:
    """The graphs that were read before, with the names under which they were recorded. Keeps no graph alive.

    ``stacks``: of equal graphs.
    """

    def __init__(self) -> None:
        self.stacks = EqualStacks()
        self._names: weakref.WeakKeyDictionary[Any, tuple[str, int]] = weakref.WeakKeyDictionary()

    def name_of(self, graph: Any) -> str | None:
        """None also for a graph to which operations were added since."""
        name, operations = self._names.get(graph, ("", -1))
        return name if operations == getattr(graph, "version", 0) else None

    def add(self, graph: Any, name: str) -> None:
        self._names[graph] = (name, getattr(graph, "version", 0))


class Reading:
    """Reads the graphs of one trace, and what they call.

    ``is_user`` tells the user's own files. ``every_line``: the graphs, by ``id()``, of which every operation's stack is
    read.
    """

    def __init__(
        self, building: Building, is_user: Callable[[str], bool], known: Known, every_line: Iterable[int] = ()
    ) -> None:
        self._building = building
        self._known = known
        self._every_line = frozenset(every_line)
        self._stacks = Stacks(is_user)
        self._layers: dict[int, Layer] = {}
        self._names: dict[int, str] = {}  # by id() of a graph: the name under which it is recorded
        self._started: dict[int, list[Started]] = {}  # by id() of a graph: where replicas began in it

    def read(self, roots: Iterable[Made], room: int) -> tuple[dict[str, str], list[GraphContents]]:
        """Return the runtime's names of the functions, each with the name of its graph's record; and the new records.

        Graphs are left out as soon as ``room`` operations have been read.
        """
        functions, new = self._list_graphs(list(roots))
        self._find_started([item.graph for item in new])
        waiting: list[Callable[[dict[str, Found]], GraphContents]] = []
        for item in new:
            if room <= 0:
                self._known.add(item.graph, "")
                continue
            operations = item.graph.get_operations()
            room -= len(operations)
            waiting.append(self._describe(item, operations))
            self._known.add(item.graph, item.name)
        stacks = self._stacks.finish()
        return functions, [finish(stacks) for finish in waiting]

    def _list_graphs(self, roots: list[Made]) -> tuple[dict[str, str], list[Made]]:
        functions: dict[str, str] = {}
        new: list[Made] = []
        made = {id(item.graph): item for item in reversed(roots)}
        waiting: list[tuple[str, Any]] = [(item.name, item.graph) for item in reversed(roots)]
        while waiting:
            name, graph = waiting.pop()
            if graph is None or name in functions:
                continue
            if id(graph) not in self._names:
                recorded = self._known.name_of(graph)
                if recorded is None:
                    item = made.get(id(graph)) or Made.from_graph(name, graph)
                    new.append(item._replace(name=name))
                self._names[id(graph)] = name if recorded is None else recorded
                waiting += [(text_of(key), body) for key, body in _bodies(graph)]
            functions[name] = self._names[id(graph)]
        return functions, new

    def _describe(self, item: Made, operations: list[Any]) -> Callable[[dict[str, Found]], GraphContents]:
        """First half: what needs each operation. The second half runs when the stacks are known."""
        graph, name = item.graph, item.name
        names = [operation.name for operation in operations]
        kinds = [operation.type for operation in operations]
        scopes = self._building.scopes.get(id(graph), {})
        gradients = [
            Added(each.begin, each.end, self._names.get(each.of, ""), each.operation)
            for each in self._building.gradients.get(id(graph), ())
        ]
        sizes = snapshot.constant_sizes(operations)
        started = self._started.get(id(graph), ())
        known, compared = self._known.stacks, None
        if id(graph) in self._every_line:
            same = list(range(len(operations)))
        else:
            large = {index for index, size in sizes.items() if size >= snapshot.LARGE_CONSTANT_BYTES}

            def user_frames(at: int) -> str:
                return _user_frames(operations[at])

            same = choose_stacks(names, kinds, scopes, gradients, large, user_frames)
            compared = known.compare(names, kinds, same, user_frames) if not started else None
        equal = known.find(compared)
        if equal is None:
            self._stacks.add(name, operations, names, same, started)
        contents = snapshot.contents_of(graph, operations, sum(sizes.values()))
        layers = {scope: self._layer(owner) for scope, owner in scopes.items() if _is_layer(owner)}
        rows = list(dict.fromkeys(layers.values()))

        def finish(stacks: dict[str, Found]) -> GraphContents:
            found, numbers = equal if equal is not None else stacks[name]
            if equal is None:
                known.keep(compared, (found, numbers))
            files, frames, tracebacks = tabulate(found)
            return GraphContents(
                name=name,
                graph=contents.graph,
                operations=len(operations),
                types=contents.types,
                outputs=contents.outputs,
                stacks=numbers,
                arguments=list(item.arguments),
                captures=list(item.captures),
                results=[operation for operation, _ in item.results],
                result_outputs=[number for _, number in item.results],
                large_constants=contents.large_constants,
                zeros=contents.zeros,
                separable=contents.separable,
                function=str(getattr(graph, "name", "")),
                files=files,
                frames=frames,
                tracebacks=tracebacks,
                gradients=gradients,
                layers=rows,
                scopes=[(scope, rows.index(layer)) for scope, layer in layers.items()],
                optimizers=[scope for scope, owner in scopes.items() if not _is_layer(owner)],
            )

        return finish

    def _find_started(self, graphs: list[Any]) -> None:
        """Find where replicas began; for loops and conditions that they built, the place in the surrounding graph."""
        known = self._building.replicas
        waiting = [graph for graph in graphs if id(graph) in known]
        self._started = {id(graph): known[id(graph)] for graph in waiting}
        while waiting:
            outer = waiting.pop()
            bodies = {text_of(name): body for name, body in _bodies(outer)}
            for index, operation in enumerate(outer.get_operations()):
                for name in _list_functions(operation) if _calls(operation.type) else ():
                    inner = bodies.get(name)
                    if inner is not None and id(inner) not in self._started:
                        began = started_before(self._started[id(outer)], index)
                        self._started[id(inner)] = [began._replace(begin=0)]
                        waiting.append(inner)

    def _layer(self, layer: Any) -> Layer:
        found = self._layers.get(id(layer))
        if found is None:
            found = Layer(str(layer.name), type(layer).__name__, _shape(layer), len(self._layers) + 1)
            self._layers[id(layer)] = found
        return found


def read_finished(graph: Any, name: str, is_user: Callable[[str], bool]) -> list[GraphContents]:
    """Read a graph that nobody followed, and the bodies that it calls: without gradients and layers."""
    return Reading(Building(), is_user, Known()).read([Made.from_graph(name, graph)], MAX_OPERATIONS)[1]


def _bodies(graph: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the functions that a graph may call, by name, with their graphs."""
    for name, function in (getattr(graph, "_functions", None) or {}).items():
        yield name, getattr(function, "graph", None)


def _user_frames(operation: Any) -> str:
    try:
        return str(operation.traceback.get_user_frames())
    except (AttributeError, TypeError):  # an operation without a stack
        return ""


def _is_layer(owner: Any) -> bool:
    return hasattr(owner, "_inbound_nodes")


def _calls(kind: str) -> bool:
    """Return whether operations of this type may name functions."""
    row = optable.row(kind)
    return bool(row.functions) or not row.known


def _list_functions(operation: Any) -> Iterator[str]:
    for value in operation.node_def.attr.values():
        if value.HasField("func"):
            yield value.func.name
        yield from (item.name for item in value.list.func)


def _shape(layer: Any) -> str:
    try:
        shape = layer._inbound_nodes[-1].output_tensors[0].shape
        return "×".join("?" if size is None else str(size) for size in shape[1:])
    except Exception:
        return ""


def text_of(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
