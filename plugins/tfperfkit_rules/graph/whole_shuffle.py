"""GRF026: a compiled step shuffles all rows to draw a few."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.uses import used_at_one_end
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.whole_sort import SORTED_ROW_MIN, SORTED_USED_MAX


class ShuffledRows(Cause, frozen=True, kw_only=True):
    """``rows`` are shuffled, of which ``used`` are used."""

    rows: int
    used: int


class WholeShuffle(GraphRule[ShuffledRows]):
    """Recognised by the slices with fixed bounds that ``tf.random.shuffle`` goes into, and nothing else."""

    code = "GRF026"
    title = "tf.random.shuffle of all rows to draw a few"

    def find(self, view: View) -> Iterator[ShuffledRows]:
        """Yield the shuffles of which less than half is used."""
        for node in view.forward:
            rows = view.shape(node.name) if node.type == "RandomShuffle" else None
            if not rows or rows[0] < SORTED_ROW_MIN.value or view.elements(node.name) is None:
                continue
            used = used_at_one_end(view, node, rows[0], 0)
            if used is not None and used.count < SORTED_USED_MAX.value * rows[0]:
                yield ShuffledRows(
                    where=node.place,
                    places=[each.place for each in used.lookups if each.place is not None],
                    operations=[node.name, *(each.name for each in used.lookups)],
                    left=used.count / rows[0],
                    rows=rows[0],
                    used=used.count,
                )

    def report(self, evidence: Evidence, part: Part[ShuffledRows]) -> Finding:
        """Advise to draw the places."""
        rows, used = part.cause.rows, part.cause.used
        return self.finding(
            evidence,
            part,
            f"tf.random.shuffle of {often(rows)} rows to draw {often(used)}",
            f"Draw the indices: ids = tf.random.uniform([{used}], maxval={rows}, dtype=tf.int64), then "
            "tf.gather(rows, ids). "
            f"Or, if no row may repeat: ids = tf.math.top_k(tf.random.uniform([{rows}]), k={used}).indices.",
            "Only slices with fixed bounds use the shuffled rows.",
            count("rows shuffled", rows),
            count("rows used", used),
        )
