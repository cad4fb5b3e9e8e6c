"""Facts about a dataset without touching it: parameters, the mapped function, sizes of its elements."""

from __future__ import annotations

import sys
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any

from tfperfkit.graph import optable
from tfperfkit.instruments.hooks.frame_locals import local
from tfperfkit.instruments.padding import padding_of
from tfperfkit.instruments.stacks import call_site
from tfperfkit.instruments.steps.functions import own_code
from tfperfkit.records.pipelines import Description, Padding, Place

_PARAMETERS = (
    "num_parallel_calls",
    "buffer_size",
    "batch_size",
    "drop_remainder",
    "count",
    "size",
    "shift",
    "stride",
    "num_shards",
    "index",
    "cycle_length",
    "block_length",
    "deterministic",
    "filename",
    "compression_type",
    "num_parallel_reads",
    "reshuffle_each_iteration",
)
_FUNCTIONS = ("_map_func", "_predicate", "_scan_func", "_reduce_func", "_structured_func", "_next_func")
#: Functions of a graph are followed this far, and pipelines to this length.
_MAX_GRAPHS = 200
_LONGEST = 50


def describe(dataset: Any, generator: Place | None = None) -> tuple[Description, Any]:
    """(description, the graph of the mapped function or None). Reads attributes only."""
    function = next((found for name in _FUNCTIONS if (found := getattr(dataset, name, None)) is not None), None)
    graph = getattr(getattr(function, "function", None), "graph", None)
    ops, python_ops, random_ops = _operations(graph) if graph is not None else (0, (), ())
    mapped = generator or _place(getattr(function, "_func", None))
    text, size = _element(dataset)
    parameters = {}
    for name in _PARAMETERS:
        if hasattr(dataset, f"_{name}"):
            parameters[name] = _value(getattr(dataset, f"_{name}"))
    if type(dataset).__name__.startswith("_AutoShard"):
        parameters["policy"] = dataset.options().experimental_distribute.auto_shard_policy.name
    tensors = getattr(dataset, "_tensors", None) or ()
    return Description(
        parameters=parameters,
        mapped=mapped,
        ops=ops,
        python_ops=python_ops,
        random_ops=random_ops,
        element=text,
        element_bytes=size,
        memory_bytes=sum(_bytes(item.shape, item.dtype) or 0 for item in tensors if _is_held(item)),
        padding=_padding(tensors) if "TensorSlice" in type(dataset).__name__ else None,
        seed=bool(_value(getattr(dataset, "_seed", None)) or _value(getattr(dataset, "_seed2", None))),
    ), graph


def _padding(tensors: Any) -> Padding | None:
    """Return the padding of the first tensor that holds padded sequences.

    NumPy looks at its memory; nothing is copied or kept.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    for item in tensors:
        if hasattr(item, "numpy") and item.dtype.is_integer and item.shape.rank == 2:
            found = padding_of(numpy.asarray(item), None)
            if found is not None:
                return found
    return None


def generator_of(frame: FrameType | None) -> Place | None:
    """Return the function given to ``from_generator``, from the frame of that call; for Keras' adapters theirs."""
    for _ in range(_LONGEST):
        if frame is None:
            return None
        if frame.f_code.co_name == "_from_generator":
            return _place(local(frame, "generator"))
        frame = frame.f_back
    return None


def _place(function: Any) -> Place | None:
    function = function.func if isinstance(function, partial) else function
    code = None
    if isinstance(function, (FunctionType, MethodType)):
        code = own_code(function)
    elif function is not None:  # a tf.function, or an object that is called; its own attributes are not asked
        kind = type(function)
        code = own_code(function.python_function if hasattr(kind, "python_function") else kind.__dict__.get("__call__"))
    if code is None:
        return None
    name = getattr(code, "co_qualname", code.co_name)
    found = call_site.original_place(code.co_filename, code.co_firstlineno, name)  # behind AutoGraph's code
    if found is None:
        return None
    return Place(file=found.file, line=found.line, function=found.function.rpartition("<locals>.")[2])


def _value(value: Any) -> int | bool | str | None:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    from tensorflow.python.framework import tensor_util

    known = tensor_util.constant_value(value) if hasattr(value, "dtype") and hasattr(value, "shape") else None
    if known is None:
        return None
    item = known.item() if hasattr(known, "item") and getattr(known, "size", 1) == 1 else None
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    return item if isinstance(item, (bool, int, str)) else None


def _operations(graph: Any) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """(operations, types that call Python, types that draw random numbers), nested functions included."""
    count = 0
    python: set[str] = set()
    random: set[str] = set()
    pending = [graph]
    seen: set[str] = set()
    while pending and len(seen) < _MAX_GRAPHS:
        current = pending.pop()
        for operation in current.get_operations():
            count += 1
            kind = operation.type
            if optable.row(kind).kind == "python":
                python.add(kind)
            elif optable.row(kind).kind in optable.DRAWING:
                random.add(kind)
        for name, function in getattr(current, "_functions", {}).items():
            nested = getattr(function, "graph", None)
            if name not in seen and nested is not None:
                seen.add(name)
                pending.append(nested)
    return count, tuple(sorted(python)), tuple(sorted(random))


def _element(dataset: Any) -> tuple[str, int | None]:
    """(the element in words, its size in bytes)."""
    from tensorflow.python.util import nest

    specs = nest.flatten(dataset.element_spec)
    words, total = [], 0
    batch = _batch(dataset)
    for spec in specs:
        shape, dtype = getattr(spec, "shape", None), getattr(spec, "dtype", None)
        if shape is None or dtype is None or not hasattr(dtype, "name"):
            return type(spec).__name__, None
        dims = None if shape.rank is None else ",".join("?" if size is None else str(size) for size in shape)
        words.append(f"{dtype.name}[{'…' if dims is None else dims}]")
        size = _bytes(shape, dtype, batch)
        total = -1 if size is None or total < 0 else total + size
    return ", ".join(words[:6]) + (", …" if len(words) > 6 else ""), total if total >= 0 else None


def _bytes(shape: Any, dtype: Any, batch: int | None = None) -> int | None:
    """Return the bytes of a dense tensor. ``batch`` is used for a first dimension that is open."""
    size = getattr(dtype, "size", 0)
    if not size or dtype.name in ("string", "variant", "resource") or shape.rank is None:
        return None
    for place, dimension in enumerate(shape):
        if dimension is None:
            dimension = batch if place == 0 else None
        if dimension is None:
            return None
        size *= int(dimension)
    return int(size)


def _is_held(tensor: Any) -> bool:
    """Return whether the dataset holds its numbers: in a graph only those of a constant, not what an argument will
    bring."""
    return hasattr(tensor, "numpy") or tensor.op.type == "Const"


def _batch(dataset: Any) -> int | None:
    """Return the size that the last ``batch`` gave."""
    for _ in range(_LONGEST):
        size = _value(getattr(dataset, "_batch_size", None))
        if isinstance(size, int) and not isinstance(size, bool):
            return size
        dataset = getattr(dataset, "_input_dataset", None)
        if dataset is None:
            return None
    return None
