"""``like-lengths``: makes batches of sequences of like length, if they are filled with padding."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import DATASET, Seams

#: Doubled, so that a batch's shortest sequence has half the length of its longest, and few lengths are traced.
BOUNDARIES = tuple(1 << number for number in range(3, 14))
#: The batch size of ``fit`` if it is given none.
_BATCH = 32
#: Arguments of ``fit`` with which it would take other data than the array's rows in turn.
_OTHERS = ("validation_split", "steps_per_epoch", "class_weight")


class LikeLengths(Base):
    """Batches hold other examples, and padding no longer has the effect that it had in the model.

    Batches have as many examples as before, fewer where a group of like lengths ends.
    """

    name = "like-lengths"
    keeps = "nothing"
    remedies = (ReplaceOps("less_padding"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``padded_batch`` in user files, and ``fit`` with an array of padded tokens."""
        tensorflow = seams.tensorflow
        seams.refuse("nothing is padded by padded_batch, nor fit handed an array of tokens with a model of any length")

        def padded_batch(original: Any, dataset: Any, /, *arguments: Any, **named: Any) -> Any:
            held = inspect.signature(original).bind(dataset, *arguments, **named).arguments
            length = _longest_part(tensorflow, dataset) if seams.called_by_user() else None
            if length is None or not isinstance(held["batch_size"], int):
                return original(dataset, *arguments, **named)
            seams.applied()
            others = ("padded_shapes", "padding_values", "drop_remainder")
            return dataset.bucket_by_sequence_length(
                length,
                list(BOUNDARIES),
                [held["batch_size"]] * (len(BOUNDARIES) + 1),
                **{name: held[name] for name in others if name in held},
            )

        def fit(held: dict[str, Any]) -> bool:
            made = _in_batches(tensorflow, held)
            if made is None:
                return False
            for name in ("y", "batch_size", "shuffle"):
                held.pop(name, None)
            held["x"] = made
            return True

        seams.replace(DATASET, "padded_batch", padded_batch)
        seams.on_model_call("fit", fit)


def _longest_part(tensorflow: Any, dataset: Any) -> Callable[..., Any] | None:
    """Return a function that returns the length of an element's longest part; None if no part has a length of its
    own."""
    specs = tensorflow.nest.flatten(dataset.element_spec)
    if not all(isinstance(spec, tensorflow.TensorSpec) and spec.shape.rank is not None for spec in specs):
        return None
    places = [number for number, spec in enumerate(specs) if spec.shape.rank and spec.shape[0] is None]
    if not places:
        return None

    def length(*parts: Any) -> Any:
        tensors = tensorflow.nest.flatten(parts)
        return tensorflow.reduce_max([tensorflow.shape(tensors[place])[0] for place in places])

    return length


def _in_batches(tensorflow: Any, held: dict[str, Any]) -> Any:
    """Return a dataset instead of ``x`` and ``y`` of ``fit``. None if they are no padded tokens, or the model takes one
    length only."""
    import numpy as np

    x, y = held.get("x"), held.get("y")
    if type(x) is not np.ndarray or type(y) is not np.ndarray or x.ndim != 2 or x.dtype.kind not in "iu" or not x.size:
        return None
    if any(held.get(name) for name in _OTHERS) or held.get("sample_weight") is not None or len(x) != len(y):
        return None
    boundaries = [boundary for boundary in BOUNDARIES if boundary <= x.shape[1]]
    if not boundaries or _has_one_length(held.get("self")):
        return None
    ahead = np.count_nonzero(x[:, 0]) < np.count_nonzero(x[:, -1])  # pad_sequences pads before the tokens
    tokens = (x if ahead else x[:, ::-1]) != 0
    width = x.shape[1]
    lengths = np.where(tokens.any(axis=1), width - tokens.argmax(axis=1), 1).astype("int32")
    if lengths.min() == width:
        return None

    def cut(rows: Any, labels: Any, lengths: Any) -> Any:
        longest = tensorflow.reduce_max(lengths)
        return (rows[:, width - longest :] if ahead else rows[:, :longest]), labels

    data = tensorflow.data.Dataset.from_tensor_slices((x, y, lengths))
    if held.get("shuffle", True):
        data = data.shuffle(len(x))
    sizes = [held.get("batch_size") or _BATCH] * (len(boundaries) + 1)
    data = data.bucket_by_sequence_length(lambda row, label, length: length, boundaries, sizes, no_padding=True)
    return data.map(cut).prefetch(tensorflow.data.AUTOTUNE)


def _has_one_length(model: Any) -> bool:
    try:
        return model.input_shape[1] is not None
    except (AttributeError, TypeError, ValueError, IndexError, KeyError):
        return False  # not built yet
