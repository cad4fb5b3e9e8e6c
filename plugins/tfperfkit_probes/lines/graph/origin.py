"""The origin of an operation in the user's source: the calls that lead to it, layer by layer.

A gradient goes to the operation that it differentiates. A path begins at a line of the traced function and goes
inwards: lines of the user's functions, Keras' layers where they are called, a part of Keras at the end.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.bounds import Tensor, tensor
from tfperfkit.graph.flops import COUNTED
from tfperfkit.graph.stages import BACKWARD, FORWARD
from tfperfkit.graph.traced import TracedGraph
from tfperfkit.records.graph_contents import LAYER_CALL
from tfperfkit_probes.lines.graph.calls import Calls, Chain
from tfperfkit_probes.lines.graph.locate import Locator
from tfperfkit_probes.lines.graph.model import BuiltGraphs, Place

NodeKind = Literal["line", "layer", "part"]


class Node(NamedTuple):
    """A step on the way inwards. A line has file, line and function; a layer its name, class and output shape."""

    kind: NodeKind
    name: str  # the function; the layer's name; "optimizer", "loss" ...
    file: str = ""
    line: int = 0
    detail: str = ""  # of a layer: its class; of a line: the others that may as well have called what ran
    shape: str = ""


class Origin(NamedTuple):
    """The source of an operation, and the stage of the step that it works for."""

    path: tuple[Node, ...]
    stage: str
    type: str = ""
    work: tuple[float, int] | None = None  # coefficient and power of the batch size
    saved: bool = False  # loaded from a SavedModel, which keeps no source lines
    of: str = ""  # the operation that counts, by its name in its own graph: of a gradient the one it differentiates
    tensors: tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None = None  # that it takes and makes


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


class Origins:
    """The origins of the operations of one trace. ``definition`` describes the function where ``built`` does not."""

    def __init__(self, built: BuiltGraphs, definition: BuiltGraphs | None = None) -> None:
        self.built = built
        self._definition = definition or built
        self._graphs = built.graphs
        self.calls = Calls(built.graphs)
        self._locator = Locator(built.graphs, self.calls)
        self._known: dict[tuple[int, int, str], Origin | None] = {}
        self._types: dict[int, Tensor] = {}

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

    def origin(self, graph: int, name: str, kind: str = "", root: int | None = None) -> Origin | None:
        """The origin of the operation that runs under ``name``; None if it is unknown.

        ``kind`` is the type that runs: a fused kernel goes by the name of one of its operations. ``root``: the graph
        that was called, where ``graph`` is a function's that it calls and that is executed by itself.
        """
        key = (graph if root is None else root, graph, name)
        if key not in self._known:
            chains = self._locator.find_all(graph, name)
            if root is not None and root != graph:
                chains = [(*way, *chain) for chain in chains[:1] for way in self.calls.ways(root, graph) or ((),)]
            self._known[key] = _either(
                [origin for chain in chains if (origin := self._follow(chain, kind)) is not None]
            )
        return self._known[key]

    def _follow(self, chain: Chain, runs: str) -> Origin | None:
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
        work = self._work(*chain[-1], kind) or (self._fused_work(*chain[-1], runs) if "Fused" in runs else None)
        return Origin(walk.path, stage, kind, work, walk.saved, walk.of, self._tensors(*chain[-1], runs))

    def _fused_work(self, number: int, index: int, runs: str) -> tuple[float, int] | None:
        """The work of the one product or convolution in the scope of an operation: a layer's, fused with its bias."""
        fused = self._fused(number, index, runs)
        return self._graphs.graphs[number].work[fused] if fused is not None else None

    def _fused(self, number: int, index: int, runs: str) -> int | None:
        """The product or convolution of a layer that runs by the name of its bias: the only one, or of its type."""
        graph = self._graphs.graphs[number]
        scope = graph.operations[index].rpartition("/")[0]
        found = [item for item in graph.work if graph.operations[item].startswith(f"{scope}/")]
        if len(found) > 1:
            found = [item for item in found if self._graphs.types[graph.types[item]] == optable.plain(runs)]
        return found[0] if scope and len(found) == 1 else None

    def _tensors(self, number: int, index: int, runs: str) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None:
        """Return the tensors that a fused kernel's matmul takes; the kernel's output has the size of the matmul's."""
        graph = self._graphs.graphs[number]
        if "Fused" in runs and index not in graph.work:
            index = found if (found := self._fused(number, index, runs)) is not None else index
        if index not in graph.makes:
            return None
        takes, makes = (
            tuple(self._tensor(each) for each in numbers)
            for numbers in (graph.takes.get(index, []), graph.makes[index])
        )
        return takes, makes

    def _tensor(self, number: int) -> Tensor:
        if number not in self._types:
            known = self._graphs.tensors
            self._types[number] = tensor(known[number] if 0 <= number < len(known) else "")
        return self._types[number]

    def _work(self, number: int, index: int, kind: str) -> tuple[float, int] | None:
        """Return the work. A gradient of a product or a convolution does as much as what it differentiates."""
        own = self._graphs.graphs[number].work.get(index)
        if own is None and kind in COUNTED and (target := self.target(number, index)) is not None:
            own = self._graphs.graphs[target[0]].work.get(target[1])
        return own

    def target(self, number: int, index: int, depth: int = 0, within: tuple[int, ...] = ()) -> tuple[int, int] | None:
        """The operation whose line counts: of a gradient the one that it differentiates; None if it is not known.

        ``within``: the graphs that the call at hand is of, where the one that is differentiated stands first of all.
        """
        graph = self._graphs.graphs[number]
        if graph.stages[index] != BACKWARD or depth > _ORDER:
            return number, index
        of = graph.forward.get(index)
        found = self._locator.index(of[0], of[1]) if of is not None else None
        if of is not None and found is not None:
            # The gradient of a jacobian ends at what makes its rows one by one, which nothing else is the gradient of.
            known = (of[0], found) if self._graphs.graphs[of[0]].stacks[found] >= 0 else None
            return self.target(of[0], found, depth + 1) or known
        return self._by_name(graph, graph.operations[index], depth, within)

    def _by_name(self, graph: TracedGraph, name: str, depth: int, within: tuple[int, ...]) -> tuple[int, int] | None:
        """``gradients/<operation>_grad/...``: how the gradient of a whole graph is named."""
        for match in _GRADIENT_OF.finditer(name):
            rest = name[match.end() :]
            for end in re.finditer(r"_grad(?:_\d+)?(?:/|$)", rest):
                forward = rest[: end.start()]
                for other in self._related(graph, within):
                    found = self._locator.index(other.id, forward)
                    if found is not None:
                        return self.target(other.id, found, depth + 1)
        return None

    def _related(self, graph: TracedGraph, within: tuple[int, ...]) -> list[TracedGraph]:
        """The graphs that this one may be the gradient of, the likeliest first; ``tf.gradients`` builds in the graph
        that it differentiates."""
        others = [item for item in self._graphs.graphs if item.id != graph.id]
        others.sort(key=lambda item: (item.id not in within, item.name not in graph.name, -len(item.name)))
        return [*others, graph]

    def operation(self, number: int, index: int) -> str:
        """The name of an operation in its own graph."""
        return self._graphs.graphs[number].operations[index]

    def stack(self, number: int, index: int) -> int:
        """The stack of an operation, or of one of its name scope where it has none of its own."""
        graph = self._graphs.graphs[number]
        if graph.stacks[index] >= 0:
            return graph.stacks[index]
        near = self._locator.near(number, graph.operations[index])
        return graph.stacks[near] if near is not None else -1

    def items(self, stack: int) -> list[Place | None]:
        """Return a stack's frames, outermost first; None stands for the call of a layer."""
        graphs = self._graphs
        found: list[Place | None] = []
        for item in graphs.stacks[stack]:
            if item == LAYER_CALL:
                found.append(None)
            else:
                file, line, function = graphs.frames[item]
                found.append(Place(graphs.files[file], line, function))
        return found

    def part(self, number: int, index: int, stack: int) -> str | None:
        """Return the part of the step that an operation is of, by its stack or its type; None for the user's own."""
        graph = self._graphs.graphs[number]
        kind = optable.row(self._graphs.types[graph.types[index]]).kind
        return "summaries" if kind == "summary" else _PARTS.get(self.area(stack))

    def area(self, stack: int) -> str:
        return self._graphs.areas[stack]

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
        """The frames from the traced function on; of Keras' own functions from the user's call on."""
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
        self.of = ""
        self._base: tuple[Node, ...] = ()  # the path at the call of the function that we are in
        self._layers: list[Node] = []  # since then
        self._within: tuple[int, ...] = ()  # the graphs that the last call is of; of a gradient: that it differentiates

    def step(self, number: int, index: int) -> None:
        origins = self._origins
        if self.path and origins.calls.is_function(number):
            self._base, self._layers = self.path, []
        target = origins.target(number, index, within=self._within)
        self.of = origins.operation(*target) if target is not None else ""
        self._within = origins.calls.list_called(*target) if target is not None else ()
        if target is None:
            if self.path:
                return  # a gradient of something unknown: the call that leads here is all that is known
            target = number, index  # the line that asks for gradients
        stack = origins.stack(*target)
        if stack < 0:
            return
        whole = origins.items(stack)
        items = self._cut(whole, target[0]) if self._base else origins.anchored(whole)
        name = origins.operation(*target)
        layers = origins.layers(target[0], name)
        self._layers = self._layers + [layer for layer in layers if layer not in self._layers]
        area = origins.area(stack)
        self.saved = self.saved or area == "saved_model"
        # The traced function may be a layer's own ``call``: then the layer is around the path, not in it.
        around = sum(item is None for item in whole[: len(whole) - len(items)]) if not self._base else 0
        surplus = max(len(self._layers) - sum(item is None for item in items), 0)
        nodes = _nodes(items, self._layers[min(around, surplus) :])
        part = origins.part(*target, stack)
        if part is not None:
            nodes.append(Node("part", part))
        base = self._base
        same = base and nodes and nodes[0][:3] == base[-1][:3] and nodes[0].line > base[-1].line
        if same and not origins.calls.entered(target[0]):
            base = base[:-1]  # the body of a loop over a dataset: a function to TensorFlow, a line below to the user
        self.path = (*base, *nodes)

    def _cut(self, items: list[Place | None], graph: int) -> list[Place | None]:
        """The frames of a function that is called: it was traced once, perhaps from another line than this one."""
        depth = self._origins.calls.depth(graph)
        if depth is not None:
            return items[depth:]
        known = {(node.file, node.line) for node in self._base if node.kind == "line"}
        for index in reversed(range(len(items))):
            item = items[index]
            if item is not None and (item.file, item.line) in known:
                return items[index + 1 :]
        last = next((item for item in reversed(items) if item is not None), None)
        return [last] if last is not None else []


def _either(origins: list[Origin]) -> Origin | None:
    """Return an origin for operations that may come from each of several calls of one function, with the lines of all
    calls.
    """
    if not origins:
        return None
    first = origins[0]
    for index, node in enumerate(first.path):
        others = dict.fromkeys(
            origin.path[index].line
            for origin in origins[1:]
            if len(origin.path) > index
            and origin.path[:index] == first.path[:index]
            and (origin.path[index].kind, origin.path[index].file) == ("line", node.file)
        )
        others.pop(node.line, None)
        if others and node.kind == "line":
            words = f"either, or line {' or '.join(map(str, sorted(others)))}"
            return first._replace(path=(*first.path[:index], node._replace(detail=words), *first.path[index + 1 :]))
    return first


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
