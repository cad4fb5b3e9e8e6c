"""Copies between devices in one execution of a concrete function: the sends of its partition graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfperfkit.graph import optable
from tfperfkit.instruments.devices.runtime import short
from tfperfkit.instruments.devices.source import SourceIndex
from tfperfkit.records.placement import OTHERS, Copy

_SENDS, _RECVS = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")
#: Operations that pass their first input on unchanged.
_PASSES = optable.names(kind=("pass", "frame", "read"))
_MAX_HOPS = 24
_GIVES = optable.names(trait="gives")


class _Partition:
    """A partition graph's nodes by name and, for each, who takes its results."""

    def __init__(self, graph: Any) -> None:
        self.nodes = {node.name: node for node in graph.node}
        self.users: dict[str, list[str]] = {}
        for node in graph.node:
            for text in node.input:
                if not text.startswith("^"):
                    self.users.setdefault(text.partition(":")[0], []).append(node.name)


def copies_of(partitions: Sequence[Any], source: SourceIndex, arguments: tuple[Any, ...]) -> list[Copy]:
    """Every send of data; those that only keep an order carry nothing and are left out."""
    read = [_Partition(graph) for graph in partitions]
    receivers = {
        _make_key(node): (partition, node)
        for partition in read
        for node in partition.nodes.values()
        if node.op in _RECVS
    }
    batch = _batch(arguments)
    found = []
    for partition in read:
        for node in partition.nodes.values():
            if node.op in _SENDS and node.input:
                name, _, port = node.input[0].partition(":")
                if "/ctrl/_" in name and partition.nodes[name].op == "Const":
                    continue
                received = receivers.get(_make_key(node))
                user = _user(*received, source) if received else ""
                found.append(_copy(partition, node, (name, int(port or 0)), user, received, source, batch))
    return found


def exchanges_of(partitions: Sequence[Any], source: SourceIndex, arguments: tuple[Any, ...]) -> list[Copy]:
    """Return the values that each device gives to the collective operations of a distribution strategy: they need no
    send.
    """
    batch = _batch(arguments)
    found = []
    for graph in partitions:
        for node in graph.node:
            if node.op not in _GIVES:
                continue
            operation = source.operation(node.name)
            size, estimated = None, False
            if operation is not None and operation.inputs:
                given = operation.inputs[0]
                size, estimated = _bytes(given.op, given.value_index, given.dtype.as_datatype_enum, batch)
            place = source.place(node.name)
            found.append(
                Copy(
                    source=short(node.device),
                    target=OTHERS,
                    op=node.op,
                    user=node.op,
                    argument=False,
                    variable=False,
                    bytes=size,
                    estimated=estimated,
                    repeated="/body/" in node.name,
                    made=place,
                    used=place,
                )
            )
    return found


def _make_key(node: Any) -> tuple[bytes, bytes, bytes]:
    attributes = node.attr
    return attributes["tensor_name"].s, attributes["send_device"].s, attributes["recv_device"].s


def _copy(
    partition: _Partition,
    node: Any,
    output: tuple[str, int],
    user: str,
    received: Any,
    source: SourceIndex,
    batch: int | None,
) -> Copy:
    name, port = _origin(partition, *output, source)
    operation = source.operation(name)
    size, estimated = _bytes(operation, port, node.attr["T"].type, batch)
    maker = partition.nodes[output[0]]
    target = received[0].nodes.get(user) if received else None
    kind = (operation.type if operation is not None else maker.op).removeprefix("_Mkl")
    inner = "/body/" in output[0] or "/cond/_" in output[0]
    inputs = partition.nodes.get(name)
    return Copy(
        source=short(node.attr["send_device"].s.decode()),
        target=short(node.attr["recv_device"].s.decode()),
        op=kind,
        user=target.op.removeprefix("_Mkl") if target is not None else "",
        argument=inputs is not None and inputs.op in ("_Arg", "_DeviceArg"),
        variable=maker.op == "ReadVariableOp",
        bytes=size,
        estimated=estimated,
        repeated=inner or maker.op in ("NextIteration", "LoopCond"),
        made=source.place(name),
        used=source.place(user) if user else None,
    )


def _origin(partition: _Partition, name: str, port: int, source: SourceIndex) -> tuple[str, int]:
    """Return the operation of the user's graph behind an output, through what only passes it on."""
    for _ in range(_MAX_HOPS):
        node = partition.nodes.get(name)
        if source.known(name) or node is None or node.op not in _PASSES or not node.input:
            break
        name, _, text = node.input[0].lstrip("^").partition(":")
        port = int(text or 0)
    return name, port


def _user(partition: _Partition, node: Any, source: SourceIndex) -> str:
    """Return the first operation of the user's graph that takes what was received; "" if none is found."""
    seen, wave = {node.name}, [node.name]
    for _ in range(_MAX_HOPS):
        following = []
        for name in wave:
            for user in partition.users.get(name, ()):
                if user in seen:
                    continue
                seen.add(user)
                if source.place(user) is not None:
                    return user
                if partition.nodes[user].op in _PASSES:
                    following.append(user)
        if not following:
            break
        wave = following
    return ""


def _bytes(operation: Any, port: int, dtype: int, batch: int | None) -> tuple[int | None, bool]:
    """(size, whether a batch dimension was filled in); None for a shape or type of unknown size."""
    from tensorflow.python.framework import dtypes

    try:
        tensor = operation.outputs[port]
        shape, kind = tensor.shape, tensor.dtype
        if kind == dtypes.resource:  # a variable's handle stands for the value that is read from it
            data = getattr(tensor.op.outputs[0], "_handle_data", None)
            shape = _handle_shape(data)
        sizes = shape.as_list()
        size = int(dtypes.as_dtype(dtype).size)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None, False
    estimated = False
    if sizes and sizes[0] is None and batch is not None:
        sizes[0], estimated = batch, True
    if any(item is None for item in sizes):
        return None, False
    for item in sizes:
        size *= item
    return size, estimated


def _handle_shape(data: Any) -> Any:
    from tensorflow.python.framework import tensor_shape

    return tensor_shape.TensorShape(data.shape_and_type[0].shape)


def _batch(arguments: tuple[Any, ...]) -> int | None:
    """Return the first dimension that all arguments with more than none have in common."""
    sizes = set()
    for tensor in arguments:
        try:
            shape = tensor.shape
            if str(tensor.dtype.name) not in ("resource", "variant") and shape.rank:
                sizes.add(int(shape[0]))
        except (AttributeError, TypeError, ValueError):
            continue
    return sizes.pop() if len(sizes) == 1 else None
