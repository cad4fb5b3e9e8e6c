"""From a walk through a function's operations to its figures: histogram, FLOPs, bytes, and what is worth a look."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.costs import cost, filled, moved
from tfperfkit.graph.model import Graph, Node, Type
from tfperfkit.graph.walk import PASSING, Visit, walk
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Constant, LayerCost, LineCost, Marked, TypeCost

HALF = ("float16", "bfloat16")
#: Constants from here on are listed.
LISTED_CONSTANT_BYTES = 1024
_MAX = 200


@dataclasses.dataclass
class _Sum:
    ops: int = 0
    backward_ops: int = 0
    forward: float = 0.0
    backward: float = 0.0
    bytes: float = 0.0
    known: bool = True


class Summary:
    """The figures of one function. ``open_size`` stands for open leading dimensions, as in its first call."""

    def __init__(self, graph: Graph, open_size: int | None) -> None:
        self.graph = graph
        self.ops: Counter[str] = Counter()
        self.flops = 0.0
        self.unknown = 0
        self.exact = True
        self.moved_bytes = 0.0
        self.activation_bytes = 0.0
        self.has_gradients = False
        self.constants: list[Constant] = []
        self.constants_bytes = 0
        self.int32_ops = 0
        self.float64_flops = 0.0
        self.half_flops = 0.0
        self.backward_operations = 0
        self._open = open_size
        self._marked: dict[str, Counter[tuple[str, SourceSpan | None, str]]] = defaultdict(Counter)
        self._types: dict[str, _Sum] = defaultdict(_Sum)
        self._lines: dict[SourceSpan | None, _Sum] = defaultdict(_Sum)
        self._layers: dict[str, _Sum] = defaultdict(_Sum)
        self._with_line = 0
        self._line_wanted = 0
        found: dict[str, Graph] = {}
        for visit in walk(graph, open_size):
            found.setdefault(visit.graph.name, visit.graph)
            self._add(visit)
            self.exact = self.exact and (visit.exact or visit.node.type in PASSING)
        self.graphs = tuple(found.values())  # the function's and its bodies, each once
        for inner in self.graphs:
            self._activations(inner)

    def _add(self, visit: Visit) -> None:
        graph, node, times = visit.graph, visit.node, visit.times
        kind = node.type
        self.ops[kind] += 1
        inputs = graph.input_types(node)
        count = cost(graph, node, self._open)
        if count is None:
            self.unknown += 1
        amount = (count or 0.0) * times
        bytes_moved = times * moved(graph, node, self._open)
        self.flops += amount
        self.moved_bytes += bytes_moved
        backward = visit.backward
        self.has_gradients = self.has_gradients or backward
        self.backward_operations += backward
        for total in (self._types[kind], self._lines[node.place], self._layers[layer_of(node)]):
            total.ops += 1
            total.bytes += bytes_moved
            total.known = total.known and count is not None
            if backward:
                total.backward_ops += 1
                total.backward += amount
            else:
                total.forward += amount
        if kind not in ("Const", "Placeholder", "NoOp"):
            self._line_wanted += 1
            self._with_line += node.place is not None
        self._look(node, kind, inputs, amount)

    def _look(self, node: Node, kind: str, inputs: Sequence[Type], amount: float) -> None:
        if kind == "Const" and node.outputs:
            size = _constant_bytes(node)
            self.constants_bytes += size
            if size >= LISTED_CONSTANT_BYTES:
                self.constants.append(Constant(name=node.name, type=str(node.outputs[0]), bytes=size, where=node.place))
            return
        made = node.outputs[0] if node.outputs else None
        of_kind = optable.row(kind).kind
        if of_kind == "python":
            self._mark("python", node)
        elif of_kind == "print":
            self._mark("print", node)
        elif of_kind == "check":
            self._mark("assert", node)
        elif kind == "Cast":
            self._mark("cast", node, f"{inputs[0].dtype if inputs else '?'} → {made.dtype if made else '?'}")
        if made is None or kind in PASSING:
            return
        self.int32_ops += made.dtype == "int32"
        if made.dtype in HALF:
            self.half_flops += amount
        if made.dtype == "float64":
            self.float64_flops += amount
            self._mark("float64", node)
            if not any(each.dtype == "float64" for each in inputs):
                self._mark("float64_source", node, f"{inputs[0].dtype if inputs else ''} → float64")

    def _mark(self, what: str, node: Node, types: str = "") -> None:
        self._marked[what][node.type, node.place, types] += 1

    def marked(self, what: str) -> list[Marked]:
        """Operations that were marked so, by type and line, the most first."""
        return [
            Marked(type=kind, ops=count, where=where, types=types)
            for (kind, where, types), count in self._marked[what].most_common(_MAX)
        ]

    def _activations(self, graph: Graph) -> None:
        """Sum up the forward results that a gradient takes: memory holds them until then."""
        kept: set[tuple[str, int]] = set()
        for node in graph.nodes.values():
            if node.backward:
                kept.update(node.inputs)
        for name, number in kept:
            owner = graph.nodes.get(name)
            if owner is not None and owner.type not in PASSING and not owner.backward:
                self.activation_bytes += filled(graph.type_of(name, number), self._open).bytes or 0

    @property
    def lines_known(self) -> float:
        """The share of the operations whose line is known, 0 to 1."""
        return self._with_line / self._line_wanted if self._line_wanted else 1.0

    def by_type(self) -> list[TypeCost]:
        rows = [
            TypeCost(type=kind, ops=total.ops, flops=total.forward + total.backward, bytes=total.bytes)
            for kind, total in self._types.items()
        ]
        return sorted(rows, key=lambda row: (-row.flops, -row.bytes, -row.ops))

    def by_line(self) -> list[LineCost]:
        rows = []
        for where, total in self._lines.items():
            if where is None:
                continue
            flops = total.forward + total.backward
            # A gradient's sums (AddN) don't carry its name: where most operations are a gradient's, all are.
            mostly = 2 * total.backward_ops > total.ops
            rows.append(
                LineCost(
                    file=where.file,
                    line=where.line,
                    function=where.function,
                    ops=total.ops,
                    flops=flops if total.known else flops or None,
                    backward_flops=flops if mostly else total.backward,
                    bytes=total.bytes,
                )
            )
        return sorted(rows, key=lambda row: (-(row.flops or 0), -row.ops))[:_MAX]

    def by_layer(self) -> list[LayerCost]:
        rows = [
            LayerCost(layer=layer, ops=total.ops, flops=total.forward, backward_flops=total.backward, bytes=total.bytes)
            for layer, total in self._layers.items()
            if layer
        ]
        return sorted(rows, key=lambda row: -(row.flops + row.backward_flops))[:_MAX]


class Precision(NamedTuple):
    """FLOPs of a function: all, those that make float64, those that make 16 bits."""

    flops: float
    float64: float
    half: float


def by_precision(graph: Graph, open_size: int | None) -> Precision:
    """Compute the precision figures of ``Summary`` for another size."""
    whole = float64 = half = 0.0
    for visit in walk(graph, open_size):
        node = visit.node
        amount = (cost(visit.graph, node, open_size) or 0.0) * visit.times
        whole += amount
        if node.outputs and node.type not in PASSING:
            half += amount if node.outputs[0].dtype in HALF else 0.0
            float64 += amount if node.outputs[0].dtype == "float64" else 0.0
    return Precision(whole, float64, half)


_NO_LAYER = re.compile(r"gradient_tape|gradients|(?:while|cond)(?:_\d+)?")


def layer_of(node: Node) -> str:
    """The name scope of the forward operation, down to a layer: ``sequential/dense_1``; empty outside of scopes."""
    return _layer(node.name.rpartition("/")[0])


@lru_cache(4096)
def _layer(scope: str) -> str:
    parts = [part for part in scope.split("/") if not _NO_LAYER.fullmatch(part)]
    return "/".join(parts[:2])


def _constant_bytes(node: Node) -> int:
    size = node.outputs[0].bytes
    if size:
        return size
    value = node.attr("value")
    return sum(map(len, value.tensor.string_val)) if value is not None else 0
