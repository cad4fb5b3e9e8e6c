"""A recorded graph as Python objects: nodes with their attributes, what they make, and the lines they come from."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from msgspec import structs

from tfperfkit.graph import optable
from tfperfkit.graph.dtypes import DTYPES, SIZES
from tfperfkit.graph.tracebacks import list_stacks
from tfperfkit.records.graph_contents import MAX_OPERATIONS, GraphContents, Place
from tfperfkit.records.source_span import SourceSpan

#: A compressed graph that grows beyond this is damaged or hostile.
MAX_GRAPH_BYTES = 64 * 1024 * 1024
_SAME = optable.names(trait="same")
_CALLING = optable.names(kind=("call", "loop", "branch"))
_PLACEHOLDERS = optable.names(kind="placeholder")
#: Operations that hand on one after the other.
_MAX_HANDED_ON = 16
#: Scopes that may be of ``tf.gradients``, and what follows the name of the operation that is differentiated.
_SCOPE_OF_GRADIENTS = re.compile(r"(?<![^/])gradients(?:_\d+)?(?=/)")
_OF_OPERATION = re.compile(r"_grad(?:_\d+)?/")
#: The names of graphs that differentiate a function, a loop or a branch.
_GRADIENT_GRAPH = re.compile(r"__backward_|_grad_")


class Damaged(ValueError):
    """A recorded graph can't be read."""


class Type(NamedTuple):
    """The type of a tensor. ``shape`` is None for an unknown rank; -1 is an open dimension."""

    dtype: str
    shape: tuple[int, ...] | None

    @property
    def elements(self) -> int | None:
        if self.shape is None:
            return None
        count = 1
        for size in self.shape:
            if size < 0:
                return None
            count *= size
        return count

    @property
    def bytes(self) -> int | None:
        elements = self.elements
        return None if elements is None else elements * SIZES.get(self.dtype, 0)

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.dtype}[?]"
        return f"{self.dtype}[{','.join('None' if size < 0 else str(size) for size in self.shape)}]"


def parse_type(text: str) -> Type:
    """``float32[8,None]`` as a Type."""
    dtype, _, rest = text.partition("[")
    inside = rest.rstrip("]")
    if inside == "?":
        return Type(dtype, None)
    return Type(dtype, tuple(-1 if size == "None" else int(size) for size in inside.split(",") if size))


class Node:
    """An operation. ``inputs`` are (operation's name, number of its output), control inputs left out.

    ``backward``: it belongs to a gradient.
    """

    __slots__ = ("_raw", "backward", "inputs", "name", "outputs", "stack", "type")

    def __init__(self, raw: Any, outputs: tuple[Type, ...], stack: tuple[Place, ...]) -> None:
        self._raw = raw
        self.name: str = raw.name.decode("utf-8", "replace")
        self.type: str = raw.op.decode("utf-8", "replace")
        self.outputs = outputs
        self.stack = stack
        self.backward = False
        self.inputs: list[tuple[str, int]] = []
        for name in raw.input:
            if name[:1] != b"^":
                owner, _, number = name.decode("utf-8", "replace").partition(":")
                self.inputs.append((owner, int(number) if number.isdigit() else 0))

    @property
    def device(self) -> str:
        return str(self._raw.device.decode("utf-8", "replace"))

    @property
    def control_inputs(self) -> list[str]:
        return [name[1:].decode("utf-8", "replace") for name in self._raw.input if name[:1] == b"^"]

    @property
    def place(self) -> SourceSpan | None:
        """Return the innermost line of the user's code."""
        return SourceSpan(*self.stack[0]) if self.stack else None

    def attr(self, name: str) -> Any:
        """Return the raw AttrValue, or None."""
        wanted = name.encode()
        for entry in self._raw.attr:
            if entry.key == wanted:
                return entry.value
        return None

    def text_attr(self, name: str, default: str = "") -> str:
        value = self.attr(name)
        return default if value is None else str(value.s.decode("utf-8", "replace"))

    def flag(self, name: str) -> bool:
        value = self.attr(name)
        return value is not None and bool(value.b)

    def integers(self, name: str) -> list[int]:
        value = self.attr(name)
        return [] if value is None else list(value.list.i)

    def functions(self) -> dict[str, list[str]]:
        """attribute -> names of the functions it holds."""
        found: dict[str, list[str]] = {}
        for entry in self._raw.attr:
            value = entry.value
            names = [value.func] if value.func.name else value.list.func
            if names:
                found[entry.key.decode()] = [each.name.decode("utf-8", "replace") for each in names]
        return found

    def attributes(self) -> dict[str, Any]:
        """Return all attributes as plain values, for a dump."""
        return {entry.key.decode("utf-8", "replace"): _plain(entry.value) for entry in self._raw.attr}


def backward(graph: str, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield the names of the operations that belong to gradients, as far as names and types tell.

    ``GraphContents.gradients`` knows better, for graphs that were followed while they were built. A gradient tape
    builds in the scope ``gradient_tape``. ``tf.gradients``, and the gradients of functions and loops, build in a scope
    ``gradients``, and there the gradient of ``dense/MatMul`` in the scope ``dense/MatMul_grad``. A scope that only the
    user calls ``gradients`` has no such scope in it. The table knows the gradient kernels.
    """
    foreign = _GRADIENT_GRAPH.search(graph) is not None  # it differentiates the operations of another graph
    scopes: set[str] = set()
    for name in nodes:
        for part in _SCOPE_OF_GRADIENTS.finditer(name):
            rest = name[part.end() + 1 :]
            differentiated = (rest[: end.start()] for end in _OF_OPERATION.finditer(rest))
            if foreign or any(operation in nodes for operation in differentiated):
                scopes.add(name[: part.end()])
    for name, node in nodes.items():
        parts = _SCOPE_OF_GRADIENTS.finditer(name) if scopes else ()
        if (
            name.startswith("gradient_tape/")
            or optable.row(node.type).differentiates
            or any(name[: part.end()] in scopes for part in parts)
        ):
            yield name


class Graph:
    """A graph of a function, and through ``body`` those that it calls."""

    def __init__(self, record: GraphContents, bodies: Callable[[str], Graph | None]) -> None:
        self.record = record
        self.name = record.name
        self.body = bodies
        self._inputs: dict[str, tuple[Type, ...]] = {}
        #: FLOPs and bytes of an operation's run, by its name and what stands for open dimensions: asked for again.
        self.costs: dict[tuple[str, int | None], float | None] = {}
        self.moved: dict[tuple[str, int | None], int] = {}

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """By name, in order. Raises ``Damaged``."""
        record = self.record
        raw = read_graph(record.graph).node
        types = [parse_type(text) for text in record.types]
        rows = record.outputs.split(";") if record.operations else []
        if len(rows) != len(raw) or len(record.stacks) != len(raw):
            raise Damaged(f"{record.name}: {len(raw)} operations, but {len(rows)} descriptions of them")
        nodes: dict[str, Node] = {}
        try:
            stacks = list_stacks(record)
            for each, row, stack in zip(raw, rows, record.stacks, strict=True):
                outputs = tuple(types[int(number)] for number in row.split(",")) if row else ()
                node = Node(each, outputs, stacks[stack] if stack >= 0 else ())
                nodes[node.name] = node
        except (IndexError, ValueError) as error:
            raise Damaged(f"{record.name}: {error}") from error
        for name in backward(record.name, nodes):
            nodes[name].backward = True
        in_order = list(nodes.values()) if record.gradients else []
        for item in record.gradients:
            for node in in_order[item.begin : item.end]:
                if node.type not in _PLACEHOLDERS:  # what is handed in belongs to the whole graph
                    node.backward = True
        return nodes

    def cut(self, name: str, arguments: Collection[str], results: Sequence[str], needed: Collection[str]) -> Graph:
        """Return what a session runs of the graph as a function of its own: the ``needed`` operations, which lead from
        what is fed, the ``arguments``, to what is fetched, the ``results``. Its captures are the variables."""
        kept = {each: node for each, node in self.nodes.items() if each in needed or each in arguments}
        record = structs.replace(
            self.record,
            name=name,
            arguments=list(arguments),
            captures=[each for each, node in kept.items() if node.type == "VarHandleOp"],
            results=list(results),
            result_outputs=[],
            stacks=[stack for each, stack in zip(self.nodes, self.record.stacks, strict=True) if each in kept],
            gradients=[],
        )
        made = Graph(record, self.body)
        made.nodes = kept
        return made

    @cached_property
    def calling(self) -> list[Node]:
        """Return the calls, loops and branches."""
        return [node for node in self.nodes.values() if node.type in _CALLING]

    @property
    def slots(self) -> list[str]:
        """Return the placeholders of a body in the order of the inputs of the operation that calls it; captures come
        last."""
        return [*self.record.arguments, *self.record.captures]

    def made(self, name: str) -> Node | None:
        """Return the node that makes a tensor, past what only hands it on."""
        node = self.nodes.get(name)
        for _ in range(_MAX_HANDED_ON):
            if node is None or node.type not in _SAME or not node.inputs:
                return node
            node = self.nodes.get(node.inputs[0][0])
        return node

    def input_types(self, node: Node) -> tuple[Type, ...]:
        """Return the types of a node's inputs; unknown ones have no dtype and no shape."""
        found = self._inputs.get(node.name)
        if found is None:
            found = tuple(self.type_of(owner, number) for owner, number in node.inputs)
            self._inputs[node.name] = found
        return found

    def type_of(self, name: str, number: int = 0) -> Type:
        node = self.nodes.get(name)
        return node.outputs[number] if node is not None and number < len(node.outputs) else Type("", None)


def read_graph(data: bytes) -> Any:
    """Return a compressed GraphDef. Raises ``Damaged``."""
    # Protobuf comes with TensorFlow. The report of a run without graphs needs none of these imports.
    from google.protobuf.message import DecodeError

    from tfperfkit.graph.graphdef import message_class
    from tfperfkit.xplane import wire

    try:
        stream = zlib.decompressobj()
        raw = stream.decompress(data, MAX_GRAPH_BYTES)
        if stream.unconsumed_tail:
            raise Damaged("the graph is too large")
        if sum(1 for _ in islice(wire.fields(raw, 0, len(raw)), MAX_OPERATIONS + 1)) > MAX_OPERATIONS:
            raise Damaged("the graph has too many operations")
        return message_class("GraphDef").FromString(raw)
    except (zlib.error, DecodeError, wire.Damaged) as error:
        raise Damaged(str(error)) from error


def optimized_types(data: bytes) -> Iterator[tuple[str, str, Any]]:
    """(name, type, raw node) of a graph after Grappler, with the functions it still calls."""
    graph = read_graph(data)
    for node in graph.node:
        yield node.name.decode("utf-8", "replace"), node.op.decode("utf-8", "replace"), node
    for function in graph.library.function:
        for node in function.node_def:
            name = f"{function.signature.name.decode('utf-8', 'replace')}/{node.name.decode('utf-8', 'replace')}"
            yield name, node.op.decode("utf-8", "replace"), node


def _plain(value: Any) -> Any:
    for name, plain in _PLAIN:
        if value.HasField(name) if name in ("shape", "tensor", "func", "list") else False:
            return plain(getattr(value, name))
    if value.s:
        return value.s.decode("utf-8", "replace")
    if value.type:
        return DTYPES.get(value.type, f"dtype {value.type}")
    if value.f:
        return value.f
    return True if value.b else value.i


def _shape(shape: Any) -> Any:
    return None if shape.unknown_rank else [dim.size for dim in shape.dim]


def _tensor(tensor: Any) -> Any:
    dtype = DTYPES.get(tensor.dtype, "")
    values = [*tensor.float_val, *tensor.double_val, *tensor.int_val, *tensor.int64_val, *tensor.bool_val]
    return {"dtype": dtype, "shape": _shape(tensor.shape), **({"values": values[:16]} if values else {})}


def _list(value: Any) -> Any:
    return [
        *(each.decode("utf-8", "replace") for each in value.s),
        *value.i,
        *value.f,
        *value.b,
        *(DTYPES.get(each, each) for each in value.type),
        *(_shape(each) for each in value.shape),
        *(each.name.decode("utf-8", "replace") for each in value.func),
    ]


_PLAIN: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("shape", _shape),
    ("tensor", _tensor),
    ("func", lambda f: f.name.decode("utf-8", "replace")),
    ("list", _list),
)
