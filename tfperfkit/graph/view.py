"""A graph as the patterns of wasted work look at it: who uses what, sizes, constants, past what only passes on.

Gradients are left out: each goes with the operation that it differentiates.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.alike import Alike
from tfperfkit.graph.given import Given
from tfperfkit.graph.model import Graph, Node
from tfperfkit.graph.sizes import RESHAPES, SAME, UNARY, Size, opened, size_of

#: Operations that read only a tensor's shape.
SIZES = optable.names(kind="shape")
#: How far a rule follows a chain of operations, and how many it collects: graphs are large, or damaged.
FOLLOWED, COLLECTED = 8, 20_000
_DEPTH = 12
_FLOATS = {"float32": "<f", "float64": "<d"}
_WIDTHS = {"int32": 4, "int64": 8, "bool": 1, "uint8": 1, "int8": 1}


class Use(NamedTuple):
    """A node that takes a tensor, and as its input of which number."""

    node: Node
    number: int


class View:
    """``open_size`` stands for open leading dimensions, as in the function's first call. ``stays``: the placeholders
    whose values stay the same in all iterations of a loop (``in_loop``) or in all calls. ``zeros``: constants and
    placeholders that are nearly all zeros, with their share; ``separable``: those that are products of a column and a
    row. ``given``: what is known of the arguments. ``idle``: as ``stays``, with
    the variables that only training changes. ``arguments``: the shapes of those with open sizes, in the function's
    first call."""

    def __init__(
        self,
        graph: Graph,
        open_size: int | None,
        stays: frozenset[str] = frozenset(),
        *,
        in_loop: bool = False,
        zeros: Mapping[str, float] | None = None,
        separable: frozenset[str] = frozenset(),
        given: Given | None = None,
        idle: frozenset[str] = frozenset(),
        arguments: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.arguments = arguments or {}
        self.given = given or Given()
        self.idle = idle
        self.zeros = zeros or {}
        self.separable = separable
        self.stays = stays
        self.in_loop = in_loop
        self.graph = graph
        self.open_size = open_size
        self.nodes = graph.nodes
        self.results = frozenset(graph.record.results)
        self._bodies: dict[str, View] = {}

    def inside(self, body: Graph) -> View:
        """Return the view of a graph that this one calls, of which nothing else is known."""
        if body.name not in self._bodies:
            self._bodies[body.name] = made = View(body, self.open_size)
            made._bodies = self._bodies
        return self._bodies[body.name]

    @cached_property
    def forward(self) -> list[Node]:
        """Return the operations that are no gradient's, in order."""
        return [node for node in self.nodes.values() if not node.backward]

    @cached_property
    def alike(self) -> Alike:
        """Which tensors are computed in the same way."""
        return Alike(self.graph, self.made)

    @cached_property
    def order(self) -> dict[str, int]:
        """Return the place of each node."""
        return {name: number for number, name in enumerate(self.nodes)}

    @cached_property
    def _uses(self) -> dict[tuple[str, int], list[Use]]:
        found: dict[tuple[str, int], list[Use]] = defaultdict(list)
        for node in self.forward:
            for number, owner in enumerate(node.inputs):
                found[owner].append(Use(node, number))
        return found

    def uses(self, node: Node, output: int = 0) -> list[Use]:
        """Return the forward operations that take a result, sizes asked for left out; what passes it on is looked
        through."""
        return list(self._past(node, output, 0))

    def _past(self, node: Node, output: int, depth: int) -> Iterator[Use]:
        for use in self._uses.get((node.name, output), ()):
            if use.node.type in SIZES:
                continue
            if use.node.type in SAME and use.node.name not in self.results and depth < _DEPTH:
                yield from self._past(use.node, 0, depth + 1)
            else:
                yield use

    def source(self, node: Node, number: int) -> Node | None:
        """Return the node that makes an input, past what only passes it on."""
        return self.made(*node.inputs[number]) if number < len(node.inputs) else None

    def made(self, name: str, output: int = 0) -> Node | None:
        """Return the node that makes a tensor, past what only hands it on."""
        return self.graph.made(name)

    def owner(self, name: str) -> str:
        """Return the name of the node that makes a tensor, past what only hands it on; "" if it is not known."""
        node = self.made(name)
        return node.name if node is not None else ""

    def size(self, name: str, output: int = 0) -> Size:
        """With open sizes as in the first call, as far as they follow."""
        return self._open.get((name, output)) or size_of(self.graph.type_of(name, output).shape)

    def shape(self, name: str, output: int = 0) -> tuple[int, ...] | None:
        """-1: open. None: of unknown rank."""
        return self.size(name, output).shape

    def elements(self, name: str, output: int = 0) -> int | None:
        """Return how many numbers a tensor has."""
        return self.size(name, output).numbers

    @cached_property
    def _open(self) -> dict[tuple[str, int], Size]:
        """Return the tensors with open sizes. Nodes stand after what goes into them."""
        found: dict[tuple[str, int], Size] = {}
        for node in self.nodes.values():
            for output, made in enumerate(node.outputs):
                if made.shape is not None and -1 in made.shape:
                    inputs = [found.get(each) or size_of(self.graph.type_of(*each).shape) for each in node.inputs]
                    given = self.arguments.get(node.name) if node.type == "Placeholder" else None
                    found[node.name, output] = (
                        size_of(given) if given is not None else opened(node, made.shape, inputs, self.open_size)
                    )
        return found

    def shapes(self, node: Node) -> list[tuple[int, ...] | None]:
        """Those of a node's inputs."""
        return [self.shape(*owner) for owner in node.inputs]

    def bytes(self, name: str, output: int = 0) -> int:
        """Return the size of a tensor; 0 if it is not known."""
        count = self.elements(name, output) or 0
        return count * (8 if self.graph.type_of(name, output).dtype in ("float64", "int64") else 4)

    def integers(self, node: Node | None) -> list[int] | None:
        """Return the values of a constant of integers, or of what follows from constants and sizes number by number (a
        tenth of ``tf.size(x)``, with open sizes as in the first call); None for anything else."""
        if node is None or not node.outputs:
            return None
        if node.type == "Pack":
            packed = [self._folded(self.made(*owner), 0) for owner in node.inputs]
            return [int(each) for each in packed if each is not None] if None not in packed else None
        if node.type == "ConcatV2" and len(node.outputs[0].shape or ()) == 1:
            parts = [self.integers(self.made(*owner)) for owner in node.inputs[:-1]]
            return None if None in parts else [value for part in parts for value in part or ()]
        if node.type != "Const":
            value = self._folded(node, 0)
            return None if value is None else [int(value)]
        made, value = node.outputs[0], node.attr("value")
        count, width = made.elements, _WIDTHS.get(made.dtype)
        if value is None or count is None or width is None:
            return None
        tensor = value.tensor
        if tensor.content:
            raw = bytes(tensor.content)
            found = [int.from_bytes(raw[at : at + width], "little", signed=True) for at in range(0, len(raw), width)]
        else:
            found = [int(each) for each in (*tensor.int_val, *tensor.int64_val, *tensor.bool_val)]
            if len(found) < count:  # protobuf leaves out what repeats the last one, and zeros
                found += [found[-1] if found else 0] * (count - len(found)) if count <= 1 << 16 else []
        return found if len(found) == count else None

    def number(self, node: Node | None) -> float | None:
        """Return the value of a constant of one float; None for anything else."""
        if node is None or node.type != "Const" or not node.outputs or node.outputs[0].elements != 1:
            return None
        kind, value = _FLOATS.get(node.outputs[0].dtype), node.attr("value")
        if kind is None or value is None:
            return None
        content = bytes(value.tensor.content)
        if len(content) == struct.calcsize(kind):
            return float(struct.unpack(kind, content)[0])
        found = [*value.tensor.float_val, *value.tensor.double_val]
        return float(found[0]) if found else 0.0

    def filled(self, node: Node) -> float | None:
        """Return the one value that all numbers of a constant of floats have, where it is stored as one."""
        value = node.attr("value")
        found = [*value.tensor.float_val, *value.tensor.double_val] if value is not None else []
        return float(found[0]) if len(found) == 1 else None

    def _folded(self, node: Node | None, depth: int) -> float | None:
        """Return a single number that follows from constants and sizes."""
        if node is None or depth > _DEPTH:
            return None
        if node.type == "Const":
            whole = self.integers(node)
            return self.number(node) if whole is None else (float(whole[0]) if len(whole) == 1 else None)
        if node.type == "Size":
            return self.elements(*node.inputs[0])
        if node.type == "StridedSlice":
            return self._extent(node)
        if node.type == "Reshape":  # as tf.repeat makes a number of its count
            return self._folded(self.source(node, 0), depth + 1) if node.outputs[0].elements == 1 else None
        given = [self._folded(self.source(node, number), depth + 1) for number in range(len(node.inputs))]
        values = [value for value in given if value is not None]
        made = optable.compute(node.type, *values) if values and len(values) == len(given) else None
        if made is None:
            return None
        return float(int(made)) if node.outputs[0].dtype.startswith(("int", "uint")) else float(made)

    def _extent(self, node: Node) -> float | None:
        """``tf.shape(x)[axis]``."""
        shape, axis = self.source(node, 0), self.integers(self.source(node, 1))
        known = shape is not None and shape.type == "Shape"
        sizes = self.shape(*shape.inputs[0]) if shape is not None and known else self.integers(shape)
        if not sizes or axis is None or len(axis) != 1 or self.elements(node.name) != 1:
            return None
        size = sizes[axis[0]] if -len(sizes) <= axis[0] < len(sizes) else -1
        return float(size) if size >= 0 else None

    def reshapes(self, node: Node) -> bool:
        """Return whether an operation gives the numbers of its first input another shape and nothing else: ``x[:,
        None]``."""
        if node.type in RESHAPES:
            return True
        if node.type == "Transpose":  # tf.tensordot puts axes in order that are in order
            order = self.integers(self.source(node, 1))
            return order is not None and order == list(range(len(order)))
        made = self.elements(node.name)
        return node.type == "StridedSlice" and made is not None and made == self.elements(*node.inputs[0])

    def axes(self, node: Node) -> tuple[int, ...] | None:
        """Return the axes, from 0, that an operation such as Sum goes over; None where they are not constant."""
        found = self.integers(self.source(node, 1))
        shape = self.shape(*node.inputs[0])
        if found is None or shape is None:
            return None
        return tuple(sorted(axis % len(shape) for axis in found)) if shape else ()

    def fused(self, node: Node) -> list[Node]:
        """Return the bias and the activation after a product: the runtime may run all as one, by the last one's
        name."""
        found: list[Node] = []
        for kinds in (frozenset({"BiasAdd", "Add", "AddV2"}), UNARY):
            uses = self.uses(found[-1] if found else node)
            if len(uses) == 1 and uses[0].node.type in kinds:
                found.append(uses[0].node)
        return found
