"""GRF039: a compiled function sorts all numbers of a row, and masks them by their cumulative sum."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.view import FOLLOWED, Use, View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.whole_sort import count_comparisons

RANKED_MIN = Threshold(
    1000,
    "numbers",
    "minimum length of a row: a shorter one takes less time than the rest of a model",
    Chosen("a few µs"),
)
MASKED_SHARE = Threshold(
    0.02,
    "share",
    "share of a row that is sorted in the prediction of the gain, which is for this k",
    Chosen("top-p of 0.9 keeps some hundred of the 50,000 tokens of a language model"),
)
_ALONG = UNARY | optable.names(kind="softmax", differentiates=False)
_COMPARES = optable.names(kind="comparison")


class RankedRow(Cause, frozen=True, kw_only=True):
    """``length``: numbers in a row, all sorted; ``rows`` are sorted. ``normalised``: a softmax follows the sort."""

    length: int
    rows: int
    normalised: bool


class RankedMask(GraphRule[RankedRow]):
    """Finds sorts of whole rows whose cumulative sum is compared with a number."""

    code = "GRF039"
    title = "Full sort of each row for a cumulative mask"

    def find(self, view: View) -> Iterator[RankedRow]:
        """Yield the sorts by TopKV2 whose k is the length of the row."""
        for node in view.forward:
            row = view.shape(*node.inputs[0]) if node.type == "TopKV2" else None
            if not row or row[-1] < RANKED_MIN.value or view.integers(view.source(node, 1)) != [row[-1]]:
                continue
            way = _find_mask(view, node)
            if way is not None:
                kept = max(round(MASKED_SHARE.value * row[-1]), 1)
                yield RankedRow(
                    where=node.place,
                    places=[each.place for each in way if each.place is not None],
                    operations=[node.name, *(each.name for each in way if each.type == "Cumsum")],
                    left=count_comparisons(row[-1], kept) / count_comparisons(row[-1], row[-1]),
                    length=row[-1],
                    rows=max(math.prod(size for size in row[:-1] if size > 0), 1),
                    normalised=any(each.type in _ALONG - UNARY for each in way),
                )

    def report(self, evidence: Evidence, part: Part[RankedRow]) -> Finding:
        """Advise a smaller k, which the user has to choose."""
        cause = part.cause
        kept = max(round(MASKED_SHARE.value * cause.length), 1)
        first = "Call tf.nn.softmax before the sort. Then sort" if cause.normalised else "Sort"
        return self.finding(
            evidence,
            part,
            f"tf.math.top_k sorts all {often(cause.length)} numbers for a cumulative mask",
            f"{first} only as many numbers as the mask can keep: tf.math.top_k(x, k={often(kept).replace(',', '_')}). "
            "You choose k: a row keeps its result if its cumulative sum passes the limit within k numbers.",
            "k is the length of the row, and the cumulative sum of the sorted numbers is compared with a limit. No "
            f"rule can tell how many numbers pass. The gain is predicted for k = {often(kept)}.",
            count("numbers in a row", cause.length),
            count("rows", cause.rows),
        )


def _find_mask(view: View, sort: Node) -> list[Node] | None:
    """Return the operations from a sort's values to a comparison of their cumulative sum; None without one."""
    pending: list[tuple[Use, list[Node], bool]] = [(use, [], False) for use in view.uses(sort)]
    # The indices of a sort look the values up again, as of tf.argsort.
    pending += [(use, [], False) for use in view.uses(sort, 1) if use.node.type == "GatherV2" and use.number == 1]
    while pending:
        (node, number), way, summed = pending.pop()
        way = [*way, node]
        if summed and node.type in _COMPARES:
            return way
        along = node.type in _ALONG and number == 0
        goes_on = along or (node.type == "GatherV2" and number == 1) or (summed and node.type in BINARY)
        sums = node.type == "Cumsum" and number == 0 and not summed and _is_last_axis(view, node)
        if (goes_on or sums) and len(way) <= FOLLOWED:
            pending += [(use, way, summed or sums) for use in view.uses(node)]
    return None


def _is_last_axis(view: View, node: Node) -> bool:
    axis, shape = view.integers(view.source(node, 1)), view.shape(*node.inputs[0])
    return axis is not None and shape is not None and len(axis) == 1 and axis[0] % len(shape) == len(shape) - 1
