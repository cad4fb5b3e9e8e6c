"""GRF013: a compiled step sorts all numbers, and uses only the first or last few."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.uses import used_at_one_end
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

SORTED_ROW_MIN = Threshold(
    64, "numbers", "minimum length of a sorted row: a shorter one takes no time", Chosen("a few cache lines")
)
SORTED_USED_MAX = Threshold(
    0.5, "share", "maximum share of the sorted or shuffled elements that is used", Chosen("half")
)
#: ``tf.sort``, ``tf.argsort`` and ``tf.math.top_k``.
_SORTS = optable.names(kind="sort") - {"NthElement"}


class SortedRow(Cause, frozen=True, kw_only=True):
    """``length``: numbers in a row; ``used`` of them are used; ``rows`` are sorted."""

    length: int
    used: int
    rows: int


class WholeSort(GraphRule[SortedRow]):
    """Recognised by the slices with fixed bounds that what was sorted goes into, and nothing else."""

    code = "GRF013"
    title = "Full sort where tf.math.top_k is enough"
    remedy = ReplaceOps("top_k")

    def find(self, view: View) -> Iterator[SortedRow]:
        """Yield the sorts of which less than half is used."""
        for node in view.forward:
            if node.type not in _SORTS:
                continue
            row, made = view.shape(*node.inputs[0]), view.shape(node.name)
            if not row or not made or made[-1] < SORTED_ROW_MIN.value:
                continue
            # All of an open size is sorted if the number asked for is the row's own.
            used = used_at_one_end(view, node, made[-1], len(made) - 1)
            if used is not None and used.count < SORTED_USED_MAX.value * made[-1]:
                yield SortedRow(
                    where=node.place,
                    places=[each.place for each in used.lookups if each.place is not None],
                    operations=[node.name, *(each.name for each in used.lookups)],
                    left=count_comparisons(row[-1], used.count) / count_comparisons(row[-1], made[-1]),
                    length=made[-1],
                    used=used.count,
                    rows=max(math.prod(row[:-1]), 1),
                )

    def report(self, evidence: Evidence, part: Part[SortedRow]) -> Finding:
        """Advise ``top_k``, or an extreme if one number is used."""
        cause = part.cause
        one = cause.used == 1
        return self.finding(
            evidence,
            part,
            f"Full sort of {often(cause.length)} numbers where {'tf.reduce_max' if one else 'tf.math.top_k'} is enough",
            (
                "Replace the sort with tf.reduce_max(x, axis=-1), or tf.reduce_min for the smallest. Or, for its "
                "index: tf.argmax or tf.argmin."
                if one
                else f"Replace the sort with tf.math.top_k(x, k={cause.used}), which gives values and indices. Or, "
                f"for the smallest: -tf.math.top_k(-x, k={cause.used}).values."
            ),
            "Only slices with fixed bounds use the sorted numbers. The gradient of a sort also scatters all numbers "
            "back to their places.",
            count("numbers in a row", cause.length),
            count("numbers used of a row", cause.used),
            count("rows", cause.rows),
        )


def count_comparisons(length: int, largest: int) -> float:
    """Comparisons for the largest few of a row: each number with the smallest so far, and those few in order."""
    return length + largest * math.log2(max(largest, 2))
