"""How many examples a step holds, where that can be known without touching the data."""

from __future__ import annotations

from types import FrameType, SimpleNamespace
from typing import Any

from tfperfkit.instruments.hooks.frame_locals import local


def of_iterator(iterator: Any) -> int:
    """Of a tf.data iterator: the static first dimension of its elements, else the batch size of its dataset; or 0."""
    from tensorflow.python.util import nest

    sizes = {_leading(spec) for spec in nest.flatten(iterator.element_spec)}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is not None:
        return size
    dataset = getattr(iterator, "_dataset", None)
    for _ in range(50):  # a pipeline's length
        if dataset is None:
            return 0
        size = getattr(dataset, "_batch_size", None)
        if size is not None:
            return int(size)
        dataset = getattr(dataset, "_input_dataset", None) or getattr(dataset, "_dataset", None)
    return 0


def of_fit(frame: FrameType | None) -> int:
    """Of a running ``Model.fit``: its data adapter's batch size; or 0."""
    while frame is not None and frame.f_code.co_name != "fit":
        frame = frame.f_back
    if frame is None:
        return 0
    iterator = local(frame, "epoch_iterator") or local(frame, "data_handler")
    adapter = getattr(iterator, "data_adapter", None) or getattr(iterator, "_adapter", None)
    size = getattr(adapter, "batch_size", None)
    if callable(size):
        size = size()
    if size:
        examples = getattr(adapter, "_num_samples", None)  # of arrays: fewer than a batch make a smaller one
        return min(int(size), examples) if isinstance(examples, int) and examples > 0 else int(size)
    dataset = getattr(adapter, "_dataset", None)
    return of_dataset(dataset) if dataset is not None else 0


def of_dataset(dataset: Any) -> int:
    """Of a dataset: its elements' static first dimension, else the batch size of the last ``batch``; or 0."""
    # Not a class made here: classes stand in circles, and the dataset would live until the next garbage collection.
    return of_iterator(SimpleNamespace(element_spec=dataset.element_spec, _dataset=dataset))


def of_signature(concrete: Any) -> int:
    """Of a traced training function: the first dimension that its tensor arguments, two or more, share; or 0."""
    try:
        from tensorflow.python.util import nest

        specs = [spec for spec in nest.flatten(concrete.structured_input_signature) if hasattr(spec, "shape")]
        batched = [spec for spec in specs if (spec.shape.rank or 0) >= 1]
        sizes = {_leading(spec) for spec in batched}
    except Exception:  # another TensorFlow keeps it elsewhere: the throughput is not told, the steps are
        return 0
    # One argument alone may be the whole data set from which the step picks its batch.
    size = sizes.pop() if len(sizes) == 1 and len(batched) >= 2 else None
    return int(size) if size else 0


def _leading(spec: Any) -> int | None:
    shape = getattr(spec, "shape", None)
    if shape is None or not shape.rank:
        return None
    value = shape[0]
    return int(value) if value is not None else None
