"""How many examples a step holds, where that can be known without touching the data."""

from __future__ import annotations

from types import FrameType, SimpleNamespace
from typing import Any

from tfperfkit.instruments.hooks.frame_locals import local


def of_iterator(iterator: Any) -> int:
    """Return the batch size of a tf.data iterator: the static first dimension of its elements, else the batch size of
    its dataset; or 0.

    For an iterator of a distribution strategy: the batch of all replicas that this process feeds.
    """
    from tensorflow.python.util import nest

    workers = getattr(iterator, "_iterators", None)
    if isinstance(workers, (list, tuple)) and workers:
        each = [_of_replica(worker) * len(getattr(worker, "_devices", None) or (0,)) for worker in workers]
        return sum(each) if all(each) else 0
    sizes = {_leading(spec) for spec in nest.flatten(iterator.element_spec)}
    size = sizes.pop() if len(sizes) == 1 else None
    if size is not None:
        return size
    return _of_pipeline(getattr(iterator, "_dataset", None))


def _of_pipeline(dataset: Any) -> int:
    for _ in range(50):  # a pipeline's length
        if dataset is None:
            return 0
        divided = getattr(dataset, "_batch_sizes", None)  # of a global batch, for the replicas in turn
        size = divided[0] if divided is not None else getattr(dataset, "_batch_size", None)
        if size is not None:
            return int(size)
        dataset = getattr(dataset, "_input_dataset", None) or getattr(dataset, "_dataset", None)
    return 0


def _of_replica(worker: Any) -> int:
    """Return the part of a worker's iterator that one replica gets; 0: not known."""
    from tensorflow.python.util import nest

    specs = nest.flatten(getattr(worker, "_element_spec", None), expand_composites=True)
    sizes = {_leading(spec) for spec in specs}
    size = sizes.pop() if len(sizes) == 1 else None
    return size if size is not None else _of_pipeline(getattr(worker, "_dataset", None))


def of_fit(frame: FrameType | None) -> int:
    """Return the batch size of a running ``Model.fit``, from its data adapter; or 0."""
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
    """Return the batch size of a dataset: its elements' static first dimension, else the batch size of the last
    ``batch``; or 0.
    """
    # No class is made here: classes are part of reference cycles, and the dataset would live until the next garbage
    # collection.
    return of_iterator(SimpleNamespace(element_spec=dataset.element_spec, _dataset=dataset))


def of_signature(concrete: Any) -> int:
    """Return the batch size of a traced training function: the first dimension that its tensor arguments, two or more,
    share; or 0.
    """
    try:
        from tensorflow.python.util import nest

        specs = [spec for spec in nest.flatten(concrete.structured_input_signature) if hasattr(spec, "shape")]
        batched = [spec for spec in specs if (spec.shape.rank or 0) >= 1]
        sizes = {_leading(spec) for spec in batched}
    except Exception:  # another TensorFlow keeps it elsewhere: the throughput is not reported, the steps are
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
