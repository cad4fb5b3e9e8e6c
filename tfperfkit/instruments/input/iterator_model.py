"""Readings of what TensorFlow itself measures of a tf.data iterator: its model, which autotuning works by.

A reading takes 0.4 to 0.9 ms, the first some 3 ms. Each tensor that Python holds takes TensorFlow's next number
(``ops.uid``), which appears in the names of functions: so the model goes to a file inside a function of two operations,
without a result that Python would hold, and the script's names are the same as without tfperf.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.records.pipelines import READING, Node

_OPS = "tensorflow.python.ops.gen_experimental_dataset_ops"
_MAX_NODES = 400


def limits() -> str:
    """Return why no reading is possible with this TensorFlow; empty when it is."""
    module = sys.modules.get(_OPS)
    if module is None or not hasattr(module, "iterator_get_model_proto"):
        return "this TensorFlow does not tell the times of tf.data stages (iterator_get_model_proto came with 2.17)"
    return ""


class Reader:
    """Reads models through ``file``, which is written and removed again at each reading."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._context: Any = None

    def read(self, iterator: Any) -> tuple[int, tuple[Node, ...]]:
        """(the id of the root, all nodes). On the thread that runs eagerly; raises Unavailable with the reason."""
        from tensorflow.core.framework import model_pb2
        from tensorflow.python.eager import context, execute
        from tensorflow.python.framework import errors_impl

        if not context.executing_eagerly():
            raise Unavailable("a graph was being built when a pipeline was to be read")
        current = context.context()
        if self._context is not current:
            current.add_function_def(self._definition())
            self._context = current
        try:
            execute.quick_execute(READING.encode(), 0, [iterator._iterator_resource], None, current)
            model = model_pb2.ModelProto.FromString(self._taken())
        except errors_impl.NotFoundError as error:
            raise Unavailable("autotuning is off for a pipeline, so tf.data does not measure its stages") from error
        except OSError as error:
            raise Unavailable(f"the times of tf.data stages could not be read: {error.strerror}") from error
        return int(model.output), tuple(_node(node) for node in list(model.nodes.values())[:_MAX_NODES])

    def _taken(self) -> bytes:
        # The descriptor is opened for writing too: files that the script's lines open for reading are counted, and this
        # one must not be.
        descriptor = os.open(self._file, os.O_RDWR | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            text = file.read()
        self._file.unlink()
        return text

    def close(self) -> None:
        """Take the function out of the script's TensorFlow."""
        if self._context is not None:
            self._context.remove_function(READING)
            self._context = None

    def _definition(self) -> Any:
        from tensorflow.core.framework import function_pb2, types_pb2

        function = function_pb2.FunctionDef()
        function.signature.name = READING
        function.signature.is_stateful = True
        argument = function.signature.input_arg.add()
        argument.name, argument.type = "iterator", types_pb2.DT_RESOURCE
        model = function.node_def.add()
        model.name, model.op = "model", "IteratorGetModelProto"
        model.input.append("iterator")
        path = function.node_def.add()
        path.name, path.op = "path", "Const"
        path.attr["dtype"].type = types_pb2.DT_STRING
        path.attr["value"].tensor.dtype = types_pb2.DT_STRING
        path.attr["value"].tensor.tensor_shape.SetInParent()
        path.attr["value"].tensor.string_val.append(os.fsencode(self._file))
        write = function.node_def.add()
        write.name, write.op = "write", "WriteFile"
        write.input.extend(["path:output:0", "model:model_proto:0"])
        function.control_ret["write"] = "write"
        function.signature.control_output.append("write")
        return function


def _node(node: Any) -> Node:
    values = {item.name: item for item in node.parameters}
    parallelism, buffer = values.get("parallelism"), values.get("buffer_size") or values.get("max_buffered_elements")
    return Node(
        int(node.id),
        str(node.name),
        tuple(int(item) for item in node.inputs),
        int(node.num_elements),
        int(node.processing_time),
        int(node.buffered_elements),
        int(node.bytes_produced),
        float(parallelism.value) if parallelism is not None else None,
        float(buffer.value) if buffer is not None else None,
        any(item.tunable for item in (parallelism, buffer) if item is not None),
    )
