"""Readings of what TensorFlow itself measures of a tf.data iterator: its model, which autotuning works by.

A reading takes 0.1 to 0.9 ms (the first some 4 ms). It runs one eager operation on the iterator's handle, makes
nothing and changes nothing.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from tfperfkit.errors import Unavailable

_OPS = "tensorflow.python.ops.gen_experimental_dataset_ops"
_PROTO = "tensorflow.core.framework.model_pb2"
_MOST_NODES = 400


class Node(msgspec.Struct, frozen=True, array_like=True):
    """A stage in one iterator, since its making. ``inputs`` are ids. ``processing_ns`` is the time in the stage itself,
    summed over its threads. ``buffer``: slots, None without; ``parallelism`` None for a stage of one thread."""

    id: int
    name: str
    inputs: tuple[int, ...]
    elements: int
    processing_ns: int
    buffered: int
    produced_bytes: int
    parallelism: float | None = None
    buffer: float | None = None
    tuned: bool = False  # parallelism or buffer is chosen by tf.data


def limits() -> str:
    """Why no reading is possible with this TensorFlow; empty when it is."""
    module = sys.modules.get(_OPS)
    if module is None or not hasattr(module, "iterator_get_model_proto"):
        return "this TensorFlow does not tell the times of tf.data stages (iterator_get_model_proto came with 2.17)"
    return ""


def read(iterator: Any) -> tuple[int, tuple[Node, ...]]:
    """(the id of the root, all nodes). On the thread that runs eagerly; raises Unavailable with the reason."""
    from tensorflow.core.framework import model_pb2
    from tensorflow.python.eager import context
    from tensorflow.python.framework import errors_impl

    if not context.executing_eagerly():
        raise Unavailable("a graph is being built")
    try:
        text = sys.modules[_OPS].iterator_get_model_proto(iterator._iterator_resource)
    except errors_impl.NotFoundError as error:
        raise Unavailable("autotuning is off for a pipeline, so tf.data does not measure its stages") from error
    model = model_pb2.ModelProto.FromString(text.numpy())
    return int(model.output), tuple(_node(node) for node in list(model.nodes.values())[:_MOST_NODES])


def _node(node: Any) -> Node:
    values = {item.name: item for item in node.parameters}
    parallelism, buffer = values.get("parallelism"), values.get("buffer_size") or values.get("max_buffered_elements")
    return Node(
        int(node.id), str(node.name), tuple(int(item) for item in node.inputs), int(node.num_elements),
        int(node.processing_time), int(node.buffered_elements), int(node.bytes_produced),
        float(parallelism.value) if parallelism is not None else None,
        float(buffer.value) if buffer is not None else None,
        any(item.tunable for item in (parallelism, buffer) if item is not None),
    )
