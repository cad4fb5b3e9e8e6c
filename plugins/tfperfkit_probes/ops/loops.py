"""The While operations of a function: what one iteration of each does, as far as the sizes of its tensors tell."""

from __future__ import annotations

import dataclasses
from collections import Counter

from tfperfkit.graph import optable
from tfperfkit.graph.costs import cost, filled, moved
from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Graph, Node, Type
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, PASSING, Visit, walk
from tfperfkit_probes.ops.model import GraphLoop

#: Decompositions and solutions that take some operations for each number and each row of a matrix, and how many.
_OF_MATRICES = optable.names(trait="cubic")
_FOR_A_ROW = 4
#: Operations whose work does not follow from the sizes of what they take and make.
_UNKNOWN_WORK = (
    optable.names(
        kind=(
            *("python", "print", "file", "decode", "encode", "parse", "dataset", "iterator", "queue", "xla"),
            *("collective", "unique", "boxes", "decomposition", "fft"),
        )
    )
    - _OF_MATRICES
)
#: These read of their first input what they make; of a list of tensors an element.
_SLICES = optable.names(kind=("slice", "gather", "tensor-list"), differentiates=False)
#: They make a few numbers of a few: of shapes, however many axes they name.
_OF_SHAPES = optable.names(kind="shape-arithmetic")
#: Outside of loops these take negligible time compared with their results: iteration counts, lists, awaited values.
_LIGHT = optable.names(kind=("range", "tensor-list")) | {"IteratorGetNext"}
_TRAINS = ("IteratorGetNext", "ResourceApply", "ResourceSparseApply")
#: Every loop has operations that move tensors in and out of lists, and that count iterations.
_NAMELESS = optable.names(kind=("tensor-list", "comparison", "logical", "predicate", "constant"))
_TYPES = 6


@dataclasses.dataclass
class _Open:
    """A loop whose bodies are walked through."""

    name: str
    node: Node
    backward: bool
    times: float  # iterations in a call, of all loops around it too
    exact: bool
    iterations: int | None
    around: str
    begun: float
    operations: float = 0.0
    flops: float = 0.0
    bytes: float = 0.0
    elements: float = 0.0
    measured: bool = True
    trains: bool = False
    types: Counter[str] = dataclasses.field(default_factory=Counter)

    def add(self, visit: Visit, open_size: int | None) -> None:
        node, kind = visit.node, visit.node.type
        solving = _of_matrices(visit.graph, node, open_size)
        count = cost(visit.graph, node, open_size) if solving is None else solving
        self.flops += (count or 0.0) * visit.times
        self.bytes += moved(visit.graph, node, open_size) * visit.times
        gradient = not self.backward and node.name.startswith("gradient_tape/")
        self.trains = self.trains or kind.startswith(_TRAINS) or gradient
        if kind in PASSING or kind in CALLS:
            return
        self.operations += visit.times
        if kind in LOOPS | BRANCHES:
            self.measured = self.measured and (kind not in LOOPS or iterations_of(visit.graph, node) is not None)
            return
        numbers = _elements(visit.graph, node, open_size)
        self.measured = self.measured and count is not None and numbers is not None
        self.elements += (numbers or 0) * visit.times
        counts = node.outputs and node.outputs[0].dtype.startswith("int") and node.outputs[0].shape == ()
        if not (kind in _NAMELESS or counts):
            self.types[kind] += 1

    def closed(self) -> GraphLoop:
        iterations = max(self.times, 1.0)
        return GraphLoop(
            name=self.name,
            where=self.node.place,
            turns=self.iterations,
            goes=self.begun if self.exact else None,
            operations=self.operations / iterations,
            flops=self.flops / iterations,
            elements=self.elements / iterations,
            measured=self.measured,
            trains=self.trains,
            backward=self.backward,
            around=self.around,
            whole_flops=self.flops,
            whole_bytes=self.bytes,
            types=dict(self.types.most_common(_TYPES)),
        )


def loops_of(graph: Graph, open_size: int | None) -> tuple[list[GraphLoop], bool]:
    """The loops that a call can run, each where it is called first; and whether the work outside of them follows from
    known sizes. ``open_size`` stands for open leading dimensions."""
    found: dict[str, _Open] = {}  # by the path of what is in it
    measured = True
    for visit in walk(graph, open_size):
        inside = [loop for path, loop in found.items() if visit.path.startswith(path)]
        for loop in inside:
            loop.add(visit, open_size)
        node = visit.node
        if not (inside or node.type in PASSING | CALLS | LOOPS | BRANCHES or node.type in _LIGHT):
            known = cost(visit.graph, node, open_size) is not None and not _is_of_matrices(node)
            measured = measured and known and _elements(visit.graph, node, open_size) is not None
        if node.type in LOOPS and visit.times > 0:
            iterations = iterations_of(visit.graph, node)
            around = inside[-1].name if inside else ""
            times = visit.times * (1 if iterations is None else iterations)
            found.setdefault(
                f"{visit.path}{node.name}/",
                _Open(node.name, node, visit.backward, times, visit.exact, iterations, around, visit.times),
            )
    return [loop.closed() for loop in found.values()], measured


def _is_of_matrices(node: Node) -> bool:
    return node.type in _OF_MATRICES


def _of_matrices(graph: Graph, node: Node, open_size: int | None) -> float | None:
    """About what a decomposition of matrices computes, or a solution by one; None of other types and open sizes."""
    if not _is_of_matrices(node) or not node.inputs:
        return None
    matrix = filled(graph.input_types(node)[0], open_size)
    count, shape = matrix.elements, matrix.shape
    return None if count is None or not shape else float(_FOR_A_ROW * count * shape[-1])


def _elements(graph: Graph, node: Node, open_size: int | None) -> int | None:
    """The numbers that an operation makes, or takes if these are more; None where the sizes don't tell its work."""
    kind = node.type
    if kind in _UNKNOWN_WORK or optable.row(kind).kind == "unknown":
        return None
    if kind in _OF_SHAPES:
        return _sum(graph.input_types(node), open_size)
    made = _sum(node.outputs, open_size)
    if made is None or kind in _SLICES:
        return made
    taken = _sum(graph.input_types(node), open_size)
    return None if taken is None else max(made, taken)


def _sum(types: list[Type] | tuple[Type, ...], open_size: int | None) -> int | None:
    total = 0
    for each in types:
        if each.dtype in ("variant", "resource"):
            continue
        count = filled(each, open_size).elements
        if count is None or each.dtype == "string":
            return None
        total += count
    return total
