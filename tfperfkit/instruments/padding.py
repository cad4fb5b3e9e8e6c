"""How much of the sequences given to Keras is padding: of arrays of whole numbers, by some of their rows."""

from __future__ import annotations

import math
import sys
from typing import Any

from tfperfkit.records.pipelines import Padding

#: Rows that are looked at, spread over all; a few hundred tell a share to some per cent.
MAX_ROWS = 512
#: Shorter ones are rows of a table rather than sequences.
_MIN_WIDTH = 8
_BATCH = 32  # Keras' own


def padding_of(array: Any, batch_size: int | None) -> Padding | None:
    """None if it is no array of that kind, or its rows neither begin nor end with one number that repeats."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu":
        return None
    count, width = array.shape
    if width < _MIN_WIDTH or count < 1:
        return None
    rows = array[:: math.ceil(count / MAX_ROWS)]
    found = [_at_end(numpy, rows), _at_end(numpy, rows[:, ::-1])]
    end = int(found[1].mean() < found[0].mean())  # the shorter sequences have more padding at that end
    lengths = found[end]
    if lengths.min() == width:
        return None
    ordered = numpy.sort(lengths)
    # Batches of sequences of like length, of as many of these rows as a batch has of all: as long as their longest.
    size = max(1, round((batch_size or _BATCH) * len(ordered) / count))
    longest = numpy.maximum.reduceat(ordered, numpy.arange(0, len(ordered), size))
    return Padding(
        width=width,
        mean=float(lengths.mean()),
        longest=int(lengths.max()),
        alike=float(longest.mean()),
        quartiles=tuple(int(ordered[len(ordered) * part // 4]) for part in (1, 2, 3)),
        rows=len(rows),
        before=bool(end),
    )


def _at_end(numpy: Any, rows: Any) -> Any:
    """Return the length of each row without what repeats at its end, at least 1. It is one number, the commonest
    there."""
    values, counts = numpy.unique(rows[:, -1], return_counts=True)
    other = rows != values[counts.argmax()]
    behind = numpy.argmax(other[:, ::-1], axis=1)
    return numpy.where(other.any(axis=1), rows.shape[1] - behind, 1)
