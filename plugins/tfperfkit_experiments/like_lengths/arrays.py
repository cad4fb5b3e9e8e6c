"""Arrays of tokens that are padded to one width, in batches of like length."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Doubled, so that a batch's shortest sequence has half the length of its longest, and lengths are few to trace.
BOUNDARIES = tuple(1 << number for number in range(3, 14))
#: Of ``fit``, where it is given none.
_USUAL = 32
#: Arguments of ``fit`` with which other data than the array's rows in turn would be meant.
_OTHERS = ("validation_split", "steps_per_epoch", "class_weight")


def in_batches(tensorflow: Any, held: dict[str, Any]) -> Any:
    """A dataset in place of ``x`` and ``y`` of ``fit``; None where they are something else, or are not padded, or the
    model takes one length only."""
    x, y = held.get("x"), held.get("y")
    if type(x) is not np.ndarray or type(y) is not np.ndarray or x.ndim != 2 or x.dtype.kind not in "iu" or not x.size:
        return None
    if any(held.get(name) for name in _OTHERS) or held.get("sample_weight") is not None or len(x) != len(y):
        return None
    boundaries = [boundary for boundary in BOUNDARIES if boundary <= x.shape[1]]
    if not boundaries or _one_length(held.get("self")):
        return None
    ahead = np.count_nonzero(x[:, 0]) < np.count_nonzero(x[:, -1])  # pad_sequences fills up before the tokens
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
    sizes = [held.get("batch_size") or _USUAL] * (len(boundaries) + 1)
    data = data.bucket_by_sequence_length(lambda row, label, length: length, boundaries, sizes, no_padding=True)
    return data.map(cut).prefetch(tensorflow.data.AUTOTUNE)


def _one_length(model: Any) -> bool:
    try:
        return model.input_shape[1] is not None
    except (AttributeError, TypeError, ValueError, IndexError, KeyError):
        return False  # not built yet
