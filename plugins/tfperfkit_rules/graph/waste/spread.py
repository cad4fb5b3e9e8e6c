"""GRF010: numbers are spread out into a mask, one-hot or by comparing, that a product or a sum takes back."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often

_LOOK_UP = (
    "Look the rows up: tf.gather(table, ids) in place of tf.one_hot(ids, n) @ table; in place of a Dense layer on "
    "one-hot vectors a keras.layers.Embedding(n, width, embeddings_initializer='glorot_uniform'), whose weights are "
    "the same kernel and begin as it did, called on the ids. A sum over the ids of an example then is tf.reduce_sum "
    "of the rows."
)
_SUM_UP = (
    "Sum by row: tf.math.unsorted_segment_sum(values, ids, n) in place of the mask, its multiplication and the sum "
    "(unsorted_segment_max, _min, _mean likewise); tf.math.bincount(ids, minlength=n) for how often each occurs. Where "
    "the sum goes the other way, over the classes, tf.gather(values, ids) picks the same numbers."
)

_COUNT = (
    "Sort once and search: tf.searchsorted(tf.sort(a), b) is how many of a are smaller than each of b (side='right': "
    "not larger), in place of comparing each with each; leave tf.sort out where a is in order, as a running sum is."
)


def spread(evidence: Evidence) -> Iterator[Finding]:
    """GRF010, by masks that are far larger than what they are made of and what they end in."""
    for part in found(evidence, "spread"):
        figures = part.waste.figures
        one_hot, ids, mask = bool(figures["one_hot"]), figures["ids"], figures["mask"]
        ordered = bool(figures.get("ordered"))
        made = "one-hot vectors" if one_hot else "a mask"
        ends = "only to be summed up again"
        if figures["looked_up"]:
            ends = f"only to be multiplied{' by a table' if one_hot else ''}"
        detail = (
            "Nearly all numbers of it are zero. A lookup, or a sum by row, reads what the indices name and nothing "
            "else; the gradient of a lookup is of the rows that were looked up."
        )
        if ordered:
            detail = "Only their number is used: a search in sorted numbers takes some twenty comparisons for each."
        yield finding(
            evidence,
            part,
            codes.SPREAD_OUT,
            f"{often(ids)} {'numbers are compared into' if ordered else 'indices become'} {made} of {often(mask)} "
            f"numbers, {ends}",
            _COUNT if ordered else _LOOK_UP if one_hot and figures["looked_up"] else _SUM_UP,
            detail,
            count("numbers" if ordered else "indices", ids),
            count("numbers of the mask", mask),
        )
