"""Where in the person's source an operation comes from: the calls that lead to it, layer by layer.

A gradient goes to the operation that it differentiates. A path begins at a line of the traced function and goes
inwards: lines of the person's functions, Keras' layers where they are called, a part of Keras at the end.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from tfperfkit.records.graphs import BACKWARD, FORWARD, HEAVY, LAYER_CALL, Graph
from tfperfkit_probes.lines.graph.locate import Chain, Locator
from tfperfkit_probes.lines.graph.model import BuiltGraphs, Place

NodeKind = Literal["line", "layer", "part"]


class Node(NamedTuple):
    """A step on the way inwards. A line has file, line and function; a layer its name, class and output shape."""

    kind: NodeKind
    name: str  # the function; the layer's name; "optimizer", "loss" ...
    file: str = ""
    line: int = 0
    detail: str = ""  # of a layer: its class
    shape: str = ""


class Origin(NamedTuple):
    """Where an operation comes from and for which stage of the step it works."""

    path: tuple[Node, ...]
    stage: str
    type: str = ""
    work: tuple[float, int] | None = None  # coefficient and power of the batch size
    saved: bool = False  # loaded from a SavedModel, which keeps no source lines


class Owner(NamedTuple):
    """The Python function whose table an operation belongs to."""

    file: str
    line: int
    function: str


_PARTS = {
    "losses": "loss",
    "metrics": "metrics",
    "optimizers": "optimizer",
    "regularizers": "regularization",
    "summaries": "summaries",
}
#: Gradients of gradients are followed this far.
_ORDER = 4
_GRADIENT_OF = re.compile(r"gradients(?:_\d+)?/")
_FUNCTION_NAME = re.compile(r"^(?:__(?:inference|forward|backward)_)+(?P<name>.*?)(?:_\d+)*$")


class Origins:
    """The origins of the operations of one trace. ``definition`` describes the function where ``built`` does not."""

    def __init__(self, built: BuiltGraphs, definition: BuiltGraphs | None = None) -> None:
        self.built = built
        self._definition = definition or built
        self._graphs = built.graphs
        self._locator = Locator(built.graphs)
        self._known: dict[tuple[int, str], Origin | None] = {}
        self._functions = {number for name, number in built.graphs.functions.items() if name.startswith("__")}

    @property
    def owner(self) -> Owner:
        described = self._definition
        if described.owner != "keras":
            return Owner(described.file, described.line, described.function)
        label = f"Model.{described.keras_method}" if described.keras_method else described.function
        site = described.called_from[-1] if described.called_from else Place(described.file, described.line, "")
        return Owner(site.file, site.line, label)

    def graph_of(self, function: str) -> int | None:
        """The graph of a function by the runtime's name for it."""
        return self._graphs.functions.get(function)

    def origin(self, graph: int, name: str, kind: str = "") -> Origin | None:
        """The origin of the operation that runs under ``name``; None if it can't be told.

        ``kind`` is the type that runs: a fused kernel goes by the name of one of its operations.
        """
        key = (graph, name)
        if key not in self._known:
            chain = self._locator.find(graph, name)
            self._known[key] = self._of(chain, kind) if chain is not None else None
        return self._known[key]

    def _of(self, chain: Chain, runs: str) -> Origin | None:
        walk = _Walk(self)
        stage = FORWARD
        for number, index in chain:
            graph = self._graphs.graphs[number]
            if graph.stages[index] != FORWARD:
                stage = graph.stages[index]
            walk.step(number, index)
        if not walk.path:
            return None
        kind = self._graphs.types[self._graphs.graphs[chain[-1][0]].types[chain[-1][1]]]
        work = self._work(*chain[-1], kind) or (self._fused_work(*chain[-1]) if "Fused" in runs else None)
        return Origin(walk.path, stage, kind, work, walk.saved)

    def _fused_work(self, number: int, index: int) -> tuple[float, int] | None:
        """The work of the one product or convolution in the scope of an operation: a layer's, fused with its bias."""
        graph = self._graphs.graphs[number]
        scope = graph.operations[index].rpartition("/")[0]
        found = [work for item, work in graph.work.items() if graph.operations[item].startswith(f"{scope}/")]
        return found[0] if scope and len(found) == 1 else None

    def _work(self, number: int, index: int, kind: str) -> tuple[float, int] | None:
        """A gradient of a product or a convolution does as much as the operation that it differentiates."""
        own = self._graphs.graphs[number].work.get(index)
        if own is None and kind in HEAVY and (target := self.target(number, index)) is not None:
            own = self._graphs.graphs[target[0]].work.get(target[1])
        return own

    def target(self, number: int, index: int, depth: int = 0) -> tuple[int, int] | None:
        """The operation whose line counts: of a gradient the one that it differentiates; None if it is not known."""
        graph = self._graphs.graphs[number]
        if graph.stages[index] != BACKWARD or depth > _ORDER:
            return number, index
        of = graph.forward.get(index)
        found = self._locator.index(of[0], of[1]) if of is not None else None
        if of is not None and found is not None:
            return self.target(of[0], found, depth + 1)
        return self._by_name(graph, graph.operations[index], depth)

    def _by_name(self, graph: Graph, name: str, depth: int) -> tuple[int, int] | None:
        """``gradients/<operation>_grad/...``: how the gradient of a whole graph is named."""
        for match in _GRADIENT_OF.finditer(name):
            rest = name[match.end() :]
            for end in re.finditer(r"_grad(?:_\d+)?(?:/|$)", rest):
                forward = rest[: end.start()]
                for other in self._related(graph):
                    found = self._locator.index(other.id, forward)
                    if found is not None:
                        return self.target(other.id, found, depth + 1)
        return None

    def _related(self, graph: Graph) -> list[Graph]:
        """The graphs that this one may be the gradient of, the likeliest first."""
        others = [item for item in self._graphs.graphs if item.id != graph.id]
        return sorted(others, key=lambda item: (item.name not in graph.name, -len(item.name)))

    def stack(self, number: int, index: int) -> int:
        """The stack of an operation, or of one of its name scope where it has none of its own."""
        graph = self._graphs.graphs[number]
        if graph.stacks[index] >= 0:
            return graph.stacks[index]
        near = self._locator.near(number, graph.operations[index])
        return graph.stacks[near] if near is not None else -1

    def is_function(self, number: int) -> bool:
        return number in self._functions

    def items(self, stack: int) -> list[Place | None]:
        """A stack's frames, outermost first; None stands for the call of a layer."""
        graphs = self._graphs
        found: list[Place | None] = []
        for item in graphs.stacks[stack]:
            if item == LAYER_CALL:
                found.append(None)
            else:
                file, line, function = graphs.frames[item]
                found.append(Place(graphs.files[file], line, function))
        return found

    def area(self, stack: int) -> str:
        return self._graphs.areas[stack]

    def graph_name(self, number: int) -> str:
        return self._graphs.graphs[number].name

    def layers(self, number: int, name: str) -> list[Node]:
        """The layers whose name scopes enclose an operation, outermost first."""
        graph = self._graphs.graphs[number]
        scopes = dict(graph.layers)
        found, scope = [], name
        while scope:
            if scope in scopes:
                layer = self._graphs.layers[scopes[scope]]
                found.append(Node("layer", layer.name, detail=layer.kind, shape=layer.shape))
            scope = scope.rpartition("/")[0]
        return found[::-1]

    def anchored(self, items: list[Place | None]) -> list[Place | None]:
        """The frames from the traced function on; of Keras' own functions from the person's call on."""
        described = self._definition
        for index, item in enumerate(items):
            if (
                item is not None
                and (item.file, item.function) == (described.file, described.function)
                and (item.line >= described.line)
            ):
                return items[index:]
        common = 0
        for site in described.called_from:
            if common < len(items) and items[common] == site:
                common += 1
        return items[max(common - 1, 0) :]


class _Walk:
    """Follows a chain inwards and puts the path together."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self.path: tuple[Node, ...] = ()
        self.saved = False
        self._base: tuple[Node, ...] = ()  # the path at the call of the function that we are in
        self._layers: list[Node] = []  # since then
        self._function = ""

    def step(self, number: int, index: int) -> None:
        origins = self._origins
        if self.path and origins.is_function(number):
            self._base, self._layers, self._function = self.path, [], origins.graph_name(number)
        target = origins.target(number, index)
        if target is None:
            if self.path:
                return  # a gradient of something unknown: the call that leads here is all that can be told
            target = number, index  # the line that asks for gradients
        stack = origins.stack(*target)
        if stack < 0:
            return
        items = origins.items(stack)
        items = self._cut(items) if self._base else origins.anchored(items)
        name = origins.built.graphs.graphs[target[0]].operations[target[1]]
        layers = origins.layers(target[0], name)
        self._layers = self._layers + [layer for layer in layers if layer not in self._layers]
        area = origins.area(stack)
        self.saved = self.saved or area == "saved_model"
        nodes = _nodes(items, self._layers)
        part = _PARTS.get(area)
        if part is not None:
            nodes.append(Node("part", part))
        base = self._base
        if base and nodes and nodes[0][:3] == base[-1][:3] and nodes[0].line > base[-1].line:
            base = base[:-1]  # the body of a loop over a dataset: a function to TensorFlow, a line below to the person
        self.path = (*base, *nodes)

    def _cut(self, items: list[Place | None]) -> list[Place | None]:
        """The frames of a function that is called: it was traced once, perhaps from another line than this one."""
        below = self._below(items)
        first = next((item for item in below if item is not None), None)
        if first is not None and first.function == self._function:
            return below
        for index, item in enumerate(items):
            if item is not None and item.function == self._function:
                return items[index:]
        known = {(node.file, node.line) for node in self._base if node.kind == "line"}
        for index in reversed(range(len(items))):
            item = items[index]
            if item is not None and (item.file, item.line) in known:
                return items[index + 1 :]
        last = next((item for item in reversed(items) if item is not None), None)
        return [last] if last is not None else []

    def _below(self, items: list[Place | None]) -> list[Place | None]:
        """The frames after those that lead to this call, where it was traced from here: functions of one name call one
        another (each layer's ``call``)."""
        lines = [(node.file, node.line) for node in self._base if node.kind == "line"]
        reached = after = 0
        for index, item in enumerate(items, 1):
            if item is not None and reached < len(lines) and (item.file, item.line) == lines[reached]:
                reached, after = reached + 1, index
        return items[after:] if reached == len(lines) else []


def _nodes(items: list[Place | None], layers: list[Node]) -> list[Node]:
    """Frames and layers in the order of the calls."""
    calls = sum(item is None for item in items)
    unnamed = max(calls - len(layers), 0)
    waiting = list(layers)
    nodes: list[Node] = []
    for item in items:
        if item is not None:
            if nodes and nodes[-1].kind == "line" and nodes[-1][2:4] == (item.file, item.line):
                continue  # a lambda on the line that calls it
            nodes.append(Node("line", item.function, item.file, item.line))
        elif unnamed:
            unnamed -= 1
        elif waiting:
            nodes.append(waiting.pop(0))
    return nodes + waiting


def base_name(function: str) -> str:
    """The Python function's name in the runtime's: ``__backward_step_12`` gives ``step``."""
    match = _FUNCTION_NAME.match(function)
    return match["name"] if match else function
