"""From the records of a trace's graphs to what the lines of compiled functions need: stages, layers, calls, work."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tfperfkit.graph import optable
from tfperfkit.graph.flops import COUNTED, flops
from tfperfkit.graph.model import Graph, Node, Type
from tfperfkit.graph.repeats import Called, assigns, draws, layer_calls
from tfperfkit.graph.stages import stages_of
from tfperfkit.graph.tracebacks import call_path, innermost
from tfperfkit.graph.traced import TracedGraph, TracedGraphs
from tfperfkit.records.graph_contents import LAYER_CALL, Layer

_WITHOUT_LINE = optable.names(kind=("constant", "placeholder"))
_FUNCTIONS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
#: Operations that only name, hand on or reshape what is there: they move nothing.
_PASSING = optable.names(trait="passes") - optable.names(kind="variable-gather")
_RUNTIME_NAME = re.compile(r"^(?:__(?:inference|forward)_)(?P<name>.*?)(?:_\d+)*$")


def build(functions: Mapping[str, str], graph_of: Callable[[str], Graph | None]) -> TracedGraphs:
    """Return the graphs of one trace. ``functions``: the runtime's name of each, with the name of its graph's record.

    ``graph_of`` returns a recorded graph by its name; what it doesn't have is left out.
    """
    return _Build(functions, graph_of).build()


class _Build:
    def __init__(self, functions: Mapping[str, str], graph_of: Callable[[str], Graph | None]) -> None:
        known = {name: graph for name in dict.fromkeys(functions.values()) if (graph := graph_of(name)) is not None}
        self._graphs = known
        self._names = {function: name for function, name in functions.items() if name in known}
        self._numbers = {name: number for number, name in enumerate(known)}
        self._types: dict[str, int] = {}
        self._tensors: dict[Type, int] = {}
        self._stacks = _Stacks()
        self._layer_numbers: dict[object, int] = {}
        self._layers: list[Layer] = []
        self._kinds: dict[str, set[str]] = {}

    def build(self) -> TracedGraphs:
        rows = [self._build(graph) for graph in self._graphs.values()]
        return TracedGraphs(
            functions={function: self._numbers[name] for function, name in self._names.items()},
            graphs=rows,
            types=list(self._types),
            files=list(self._stacks.files),
            frames=list(self._stacks.frames),
            stacks=[list(items) for items, *_ in self._stacks.rows],
            areas=[area for _, area, _ in self._stacks.rows],
            layers=self._layers,
            tensors=[str(each) for each in self._tensors],
        )

    def _build(self, graph: Graph) -> TracedGraph:
        record = graph.record
        nodes = list(graph.nodes.values())
        names, kinds = [node.name for node in nodes], [node.type for node in nodes]
        stacks = self._stacks_of(graph, kinds)
        calls = {index: called for index, node in enumerate(nodes) if (called := _list_functions(node))}
        layers = {scope: self._layer(record.layers[layer]) for scope, layer in record.scopes}
        known = {name: index for index, name in enumerate(names)}
        # A loop that is differentiated gets inputs that were built after it: they don't make it a gradient.
        inputs = [
            [source for owner in _sources(node) if (source := known.get(owner, index)) < index]
            for index, node in enumerate(nodes)
        ]
        rows = list(self._stacks.rows)
        stages, forward = stages_of(
            inputs,
            [stack >= 0 and rows[stack][2] for stack in stacks],
            [stack >= 0 and rows[stack][1] == "optimizers" for stack in stacks],
            record.gradients,
            self._numbers,
        )
        number = self._numbers[record.name]
        repeated = layer_calls(
            names,
            kinds,
            stacks,
            inputs,
            stages,
            {index: known[name] for index, (of, name) in forward.items() if of == number and name in known},
            layers,
            set(record.optimizers),
            innermost([items for items, *_ in rows]),
            self._functions(kinds, calls),
            {index for index, node in enumerate(nodes) if _is_handed_resource(node)},
        )
        moving = {index: node for index, node in enumerate(nodes) if node.type not in _PASSING}
        return TracedGraph(
            id=number,
            name=record.function,
            operations=names,
            types=[self._types.setdefault(kind, len(self._types)) for kind in kinds],
            stacks=stacks,
            stages=stages,
            forward=forward,
            calls=calls,
            layers=list(layers.items()),
            layer_calls=repeated,
            work={i: work for i, node in enumerate(nodes) if (work := work_of(node, graph.input_types(node)))},
            takes={index: self._tensor_numbers(graph.input_types(node)) for index, node in moving.items()},
            makes={index: self._tensor_numbers(node.outputs) for index, node in moving.items()},
        )

    def _stacks_of(self, graph: Graph, kinds: Sequence[str]) -> list[int]:
        """For a gradient, the stack of the differentiated operation counts; constants need none."""
        record = graph.record
        numbers = [self._stacks.add(call_path(record, each), each.area, each.gradient) for each in record.tracebacks]
        found = [
            numbers[stack] if stack >= 0 and kind not in _WITHOUT_LINE else -1
            for stack, kind in zip(record.stacks, kinds, strict=True)
        ]
        for item in record.gradients:
            end = min(item.end, len(found))
            found[item.begin : end] = [-1] * (end - item.begin)
        return found

    def _tensor_numbers(self, types: Sequence[Type]) -> list[int]:
        return [self._tensors.setdefault(each, len(self._tensors)) for each in types]

    def _functions(self, kinds: Sequence[str], calls: Mapping[int, list[str]]) -> list[Called]:
        """Return the calls of compiled functions, each function as a layer; what is not called twice is left out."""
        called = {index: names[0] for index, names in calls.items() if kinds[index] in _FUNCTIONS and len(names) == 1}
        bodies = {index: self._names[name] for index, name in called.items() if name in self._names}
        often = Counter(bodies.values())
        found = []
        for index, body in bodies.items():
            if often[body] > 1:
                match = _RUNTIME_NAME.match(called[index])
                layer = Layer(match["name"] if match else called[index], "tf.function")
                inside = self._kinds_in(body)
                found.append(Called(index, self._number(body, layer), draws(inside), assigns(inside)))
        return found

    def _kinds_in(self, name: str) -> set[str]:
        """Return the types of operations in a graph and in all that it calls."""
        if name not in self._kinds:
            found: set[str] = set()
            waiting, seen = [name], {name}
            while waiting:
                for node in self._graphs[waiting.pop()].nodes.values():
                    found.add(node.type)
                    inner = {self._names[called] for called in _list_functions(node) if called in self._names} - seen
                    waiting += inner
                    seen |= inner
            self._kinds[name] = found
        return self._kinds[name]

    def _layer(self, layer: Layer) -> int:
        return self._number(layer, layer)

    def _number(self, key: object, layer: Layer) -> int:
        number = self._layer_numbers.setdefault(key, len(self._layers))
        if number == len(self._layers):
            self._layers.append(layer)
        return number


class _Stacks:
    """The stacks of all graphs, each once. ``rows``: frames, area, whether it was built within a call for gradients."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.frames: dict[tuple[int, int, str], int] = {}
        self.rows: dict[tuple[tuple[int, ...], str, bool], int] = {}

    def add(self, path: Sequence[tuple[str, int, str] | None], area: str, gradient: bool) -> int:
        items = tuple(LAYER_CALL if place is None else self._frame(*place) for place in path)
        return self.rows.setdefault((items, area, gradient), len(self.rows))

    def _frame(self, file: str, line: int, function: str) -> int:
        frame = (self.files.setdefault(file, len(self.files)), line, function)
        return self.frames.setdefault(frame, len(self.frames))


def work_of(node: Node, inputs: Sequence[Type]) -> tuple[float, int] | None:
    """Return the FLOPs of a product or a convolution: ``coefficient * batch ** power``; ``power`` is 0 if all sizes are
    known.

    One size may be open at most; it is taken to be the batch. None if the shapes don't tell, and for other operations.
    """
    if node.type not in COUNTED:
        return None
    saved = node.outputs
    try:
        counts = []
        for size in (1, 2):
            node.outputs = tuple(_opened(each, size) for each in saved)
            counts.append(flops(node, [_opened(each, size) for each in inputs]))
    finally:
        node.outputs = saved
    one, two = counts
    # Each open size doubles the work if it is two instead of one.
    return (one, 0 if one == two else 1) if one is not None and two in (one, 2 * one) else None


def _opened(type_: Type, size: int) -> Type:
    if type_.shape is None or min(type_.shape, default=0) >= 0:
        return type_
    return Type(type_.dtype, tuple(size if each < 0 else each for each in type_.shape))


def _sources(node: Node) -> list[str]:
    return [owner for owner, _ in node.inputs]


def _list_functions(node: Node) -> list[str]:
    """Return the functions that an operation names."""
    row = optable.row(node.type)
    return [name for names in node.functions().values() for name in names] if row.functions or not row.known else []


def _is_handed_resource(node: Node) -> bool:
    """Return whether it hands a variable, or another resource, into its graph."""
    return node.type == "Placeholder" and bool(node.outputs) and node.outputs[0].dtype == "resource"
