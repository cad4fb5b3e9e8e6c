"""A graph under construction or just finished, copied into plain data: what its operations are and what they make.

The copy is TensorFlow's own ``GraphDef``, without the content of its constants, and with it what a GraphDef doesn't
say: the types of the operations' outputs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tfperfkit.instruments.graphs.separable import separable
from tfperfkit.instruments.graphs.zeros import nearly_all_zeros

#: Constants of a graph that are copied with it while it is described; beyond, each operation is described alone.
MAX_CONSTANT_BYTES = 64 * 1024 * 1024
#: A constant's content is kept up to this size: bounds of loops, axes, shapes.
KEPT_CONSTANT_BYTES = 256
#: Constants from this size on are reported with their lines.
LARGE_CONSTANT_BYTES = 64 * 1024
_CONTENT = (
    "tensor_content",
    "half_val",
    "float_val",
    "double_val",
    "int_val",
    "string_val",
    "scomplex_val",
    "int64_val",
    "bool_val",
    "dcomplex_val",
    "uint32_val",
    "uint64_val",
)


class Contents(NamedTuple):
    """The contents of a graph, in the form that ``GraphContents`` keeps."""

    graph: bytes
    types: list[str]
    outputs: str
    large_constants: bool
    zeros: dict[str, float]
    separable: list[str]


def contents_of(graph: Any, operations: list[Any], constant_bytes: int) -> Contents:
    """Describe a FuncGraph, of whose constants the size is known."""
    large = constant_bytes > MAX_CONSTANT_BYTES
    types, outputs = _outputs(operations)
    definition = _alone(operations) if large else graph.as_graph_def()
    definition.ClearField("library")
    constants = [node for node in definition.node if node.op == "Const"]
    empty, products = nearly_all_zeros(graph, constants), separable(graph, constants)
    strip_constants(constants)
    data = zlib.compress(definition.SerializeToString(), 1)
    return Contents(data, types, ";".join(outputs), large, empty, products)


def constant_sizes(operations: Sequence[Any]) -> dict[int, int]:
    """Return the bytes of the constants among operations, by their numbers."""
    return {index: _size(operation) for index, operation in enumerate(operations) if operation.type == "Const"}


def _outputs(operations: list[Any]) -> tuple[list[str], list[str]]:
    """Return the output types, and for each operation the numbers of its types.

    Only texts are kept while going through the operations: thousands of new lists would set off the garbage collector.
    """
    numbers: dict[Any, int] = {}
    types: list[str] = []
    columns: list[str] = []
    for operation in operations:
        row = ""
        for tensor in operation.outputs:
            dtype = tensor.dtype
            dimensions, unknown = tensor._shape
            key = (dtype.as_datatype_enum, None if unknown else tuple(dimensions))
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(types)
                types.append(type_text(dtype.name, key[1]))
            row = f"{row},{number}" if row else str(number)
        columns.append(row)
    return types, columns


def type_text(dtype: str, dimensions: tuple[int, ...] | None) -> str:
    """``float32[8,None]``; ``float32[?]`` when even the rank is not known."""
    if dimensions is None:
        return f"{dtype}[?]"
    return f"{dtype}[{','.join('None' if size is None or size < 0 else str(size) for size in dimensions)}]"


def _size(constant: Any) -> int:
    """Return the bytes of a constant; 0 if its shape is not known."""
    tensor = constant.outputs[0]
    dimensions, unknown = tensor._shape
    if unknown:
        return 0
    size = getattr(tensor.dtype, "size", 1) or 1
    for dimension in dimensions:
        size *= max(dimension, 0)
    return int(size)


def _alone(operations: list[Any]) -> Any:
    """Return a GraphDef put together operation by operation, without the constants' contents."""
    from tensorflow.core.framework import graph_pb2

    definition = graph_pb2.GraphDef()
    for operation in operations:
        if operation.type != "Const":
            definition.node.append(operation.node_def)
            continue
        tensor = operation.outputs[0]
        node = definition.node.add(name=operation.name, op="Const", device=operation.device)
        node.attr["dtype"].type = tensor.dtype.as_datatype_enum
        node.attr["value"].tensor.dtype = tensor.dtype.as_datatype_enum
        for size in tensor._shape[0]:
            node.attr["value"].tensor.tensor_shape.dim.add(size=size)
    return definition


def strip_constants(nodes: Iterable[Any]) -> None:
    """Clear the contents of the large constants among NodeDefs, in place."""
    for node in nodes:
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            if tensor.ByteSize() > KEPT_CONSTANT_BYTES:
                for field in _CONTENT:
                    tensor.ClearField(field)


def optimized(graphs: Any) -> bytes:
    """Return the graph after Grappler of a ``function_graphs`` entry, as a compressed GraphDef without large
    constants."""
    from tensorflow.core.framework import graph_pb2

    definition = graph_pb2.GraphDef()
    definition.CopyFrom(graphs.post_optimization_graph)
    strip_constants(definition.node)
    for function in definition.library.function:
        strip_constants(function.node_def)
    return zlib.compress(definition.SerializeToString(), 1)
