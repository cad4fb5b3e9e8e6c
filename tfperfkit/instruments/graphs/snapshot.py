"""A graph under construction or just finished, copied into plain data: what its operations are, make and come from.

The copy is TensorFlow's own ``GraphDef``, without the content of its constants, and beside it for each operation what
a GraphDef does not say: the types of its outputs and the lines of the user's code that made it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tfperfkit.graph import optable
from tfperfkit.instruments.graphs.separable import separable
from tfperfkit.instruments.graphs.zeros import nearly_all_zeros
from tfperfkit.instruments.stacks import call_site
from tfperfkit.records.graph_contents import GraphContents, Place

#: Constants of a graph that are copied with it while it is described; beyond, each operation is described alone.
MAX_CONSTANT_BYTES = 64 * 1024 * 1024
#: A constant's content is kept up to this size: bounds of loops, axes, shapes.
KEPT_CONSTANT_BYTES = 256
#: Constants from this size on are reported with their lines.
LARGE_CONSTANT_BYTES = 64 * 1024
#: Frames of the user's code that are kept of an operation's stack, innermost first.
MAX_FRAMES = 10
#: In a gradient's or an optimizer's operations the stacks so far apart are read; equal ones stand for those between.
INTERVAL = 48
#: At most so many stacks of a graph are read.
MAX_STACKS = 10_000
#: A gradient and an optimizer name all that they make so.
_OPTIMIZER = re.compile(
    r"(?:adam|adamw|adamax|adadelta|adagrad|adafactor|nadam|ftrl|lamb|lion|muon|rmsprop|sgd|loss_scale_optimizer)(?:_\d+)?"
)
_WITHOUT_LINE = optable.names(kind=("constant", "placeholder", "noop"))
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (.+)')
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


def contents_of(
    graph: Any, name: str, known: Callable[[str], bool], is_own: Callable[[str], bool], *, every_line: bool = False
) -> Iterator[GraphContents]:
    """A FuncGraph and the bodies it calls, other than those that are ``known`` by name.

    ``is_own`` tells the user's files: of a stack their frames are kept, or all but the frameworks' if there are none.
    ``every_line``: read the stack of every single operation, which costs a tenth of the trace.
    """
    pending = [(name, graph)]
    seen = {name}
    while pending:
        name, graph = pending.pop()
        definition, record = _describe(graph, name, is_own, every_line)
        yield record
        functions = getattr(graph, "_functions", {})
        for called in _called(definition) if functions else ():
            body = getattr(functions.get(called), "graph", None)
            if called not in seen and body is not None and not known(called):
                seen.add(called)
                pending.append((called, body))


def _describe(graph: Any, name: str, is_own: Callable[[str], bool], every_line: bool) -> tuple[Any, GraphContents]:
    operations = graph.get_operations()
    types, outputs = _outputs(operations)
    places, stacks = _places(operations, is_own, every_line)
    large = constant_bytes(operations) > MAX_CONSTANT_BYTES
    definition = _alone(operations) if large else graph.as_graph_def()
    definition.ClearField("library")
    empty, products = nearly_all_zeros(graph, definition), separable(graph, definition)
    strip_constants(definition.node)
    captured = [internal.op.name for _, internal in getattr(graph, "captures", ())]
    inputs = [tensor.op.name for tensor in getattr(graph, "inputs", ())]
    hidden = set(captured)
    results = [tensor for tensor in getattr(graph, "outputs", ()) if tensor is not None]
    return definition, GraphContents(
        name=name,
        graph=zlib.compress(definition.SerializeToString(), 1),
        operations=len(operations),
        types=types,
        outputs=outputs,
        places=places,
        stacks=stacks,
        arguments=[argument for argument in inputs if argument not in hidden],
        captures=captured,
        results=[tensor.op.name for tensor in results],
        result_outputs=[tensor.value_index for tensor in results],
        large_constants=large,
        zeros=empty,
        separable=products,
    )


def _outputs(operations: list[Any]) -> tuple[list[str], str]:
    """The types, and each operation's numbers of them.

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
    return types, ";".join(columns)


def constant_bytes(operations: Iterable[Any]) -> int:
    """The size of the constants among the operations of a graph."""
    total = 0
    for operation in operations:
        if operation.type == "Const":
            tensor = operation.outputs[0]
            dimensions, unknown = tensor._shape
            total += 0 if unknown else _bytes(tensor.dtype, dimensions)
    return total


def type_text(dtype: str, dimensions: tuple[int, ...] | None) -> str:
    """``float32[8,None]``; ``float32[?]`` when even the rank is not known."""
    if dimensions is None:
        return f"{dtype}[?]"
    return f"{dtype}[{','.join('None' if size is None or size < 0 else str(size) for size in dimensions)}]"


def _bytes(dtype: Any, dimensions: Any) -> int:
    size = getattr(dtype, "size", 1) or 1
    for dimension in dimensions:
        size *= max(dimension, 0)
    return int(size)


def _is_large(constant: Any) -> bool:
    tensor = constant.outputs[0]
    dimensions, unknown = tensor._shape
    return not unknown and _bytes(tensor.dtype, dimensions) >= LARGE_CONSTANT_BYTES


def _places(operations: list[Any], is_own: Callable[[str], bool], every: bool) -> tuple[list[list[Place]], list[int]]:
    """Each operation's stack without frameworks; -1 where it was not read.

    TensorFlow works out a whole stack when it is first read, for 15 to 30 us and 8 KB. So a gradient's and an
    optimizer's operations, which one call of the user makes in a row, are read at intervals; small constants never.
    """
    reader = _StackReader(operations, is_own)
    if every:
        for index in range(len(operations)):
            reader.read(index)
        return reader.places, reader.numbers
    begin, run = 0, ""
    for index, operation in enumerate(operations):
        name = operation.name
        head = name[: name.find("/")] if "/" in name else ""
        made_by_one = head if head == "gradient_tape" or _OPTIMIZER.fullmatch(head) else ""
        if made_by_one != run:
            reader.read_run(begin, index - 1, run != "")
            begin, run = index, made_by_one
    reader.read_run(begin, len(operations) - 1, run != "")
    return reader.places, reader.numbers


class _StackReader:
    """Reads stacks of operations. Many operations share one, so each text is taken apart once."""

    def __init__(self, operations: list[Any], is_own: Callable[[str], bool]) -> None:
        self._operations = operations
        self._is_own = is_own
        self._by_text: dict[str, int] = {}
        self._by_place: dict[tuple[Place, ...], int] = {}
        self._read = 0
        self.numbers = [-1] * len(operations)

    @property
    def places(self) -> list[list[Place]]:
        return [list(frames) for frames in self._by_place]

    def read(self, index: int) -> int:
        try:
            text = str(self._operations[index].traceback.get_user_frames())
        except (AttributeError, TypeError):  # an operation without a stack
            return -1
        number = self._by_text.get(text)
        if number is None:
            frames = _frames(text, self._is_own)
            number = self._by_place.setdefault(frames, len(self._by_place)) if frames else -1
            self._by_text[text] = number
        self.numbers[index] = number
        self._read += 1
        return number

    def read_run(self, first: int, last: int, made_by_one: bool) -> None:
        """Operations ``first`` to ``last``; ``made_by_one``: most likely all by one call of the user."""
        if not made_by_one:
            for index in range(first, last + 1):
                operation = self._operations[index]
                wanted = operation.type not in _WITHOUT_LINE or (operation.type == "Const" and _is_large(operation))
                if wanted and self._read < MAX_STACKS:
                    self.read(index)
            return
        while first <= last:
            end = min(first + INTERVAL, last)
            begin_number, end_number = self.read(first), self.read(end)
            if begin_number == end_number or self._read >= MAX_STACKS:
                self.numbers[first : end + 1] = [begin_number] * (end + 1 - first)
            else:
                self.read_run(first + 1, end - 1, False)
            first = end + 1


def _frames(text: str, is_own: Callable[[str], bool]) -> tuple[Place, ...]:
    """The user's frames of a stack as TensorFlow prints it, innermost first; other packages' if there are none."""
    found = [
        (file, int(line), function.removeprefix("tf__"))
        for file, line, function in reversed(_FRAME.findall(text))
        if not call_site.is_machinery(file) and "__autograph_generated_file" not in file
    ]
    own = [frame for frame in found if is_own(frame[0])]
    return tuple((own or found)[:MAX_FRAMES])


def _alone(operations: list[Any]) -> Any:
    """A GraphDef put together operation by operation, without the constants' contents."""
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


def strip_constants(nodes: Any) -> None:
    """Clear the contents of the large constants among NodeDefs, in place."""
    for node in nodes:
        if node.op == "Const":
            tensor = node.attr["value"].tensor
            if tensor.ByteSize() > KEPT_CONSTANT_BYTES:
                for field in _CONTENT:
                    tensor.ClearField(field)


def _called(definition: Any) -> Iterator[str]:
    for node in definition.node:
        row = optable.row(node.op)
        if row.functions or not row.known:
            for value in node.attr.values():
                if value.HasField("func"):
                    yield value.func.name
                for function in value.list.func:
                    yield function.name


def optimized(graphs: Any) -> bytes:
    """The graph after Grappler of a ``function_graphs`` entry, as a compressed GraphDef without large constants."""
    from tensorflow.core.framework import graph_pb2

    definition = graph_pb2.GraphDef()
    definition.CopyFrom(graphs.post_optimization_graph)
    strip_constants(definition.node)
    for function in definition.library.function:
        strip_constants(function.node_def)
    return zlib.compress(definition.SerializeToString(), 1)
