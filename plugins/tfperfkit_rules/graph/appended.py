"""GRF034: a loop in a compiled function copies a tensor in each iteration to append to it."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.loop_states import COPIES_OF_ROW, ITERATIONS_UNKNOWN, find_handed_on
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule


class AppendedTensor(Cause, frozen=True, kw_only=True):
    """``iterations`` of the loop, 0 if unknown. ``before``: new rows come before the earlier ones."""

    iterations: int
    before: bool = False


class AppendedInLoop(GraphRule[AppendedTensor]):
    """Finds what an iteration returns for the next: the same tensor with more rows, and nothing else reads it in the
    loop."""

    code = "GRF034"
    title = "tf.concat in a loop copies all earlier rows"

    def find(self, view: View) -> Iterator[AppendedTensor]:
        """Yield the concatenations that only make a tensor longer."""
        for each in find_handed_on(view):
            first, *others = each.made.inputs
            if each.made.type == "ConcatV2" and any(map(each.is_argument, (first, *others))):
                iterations = iterations_of(view.graph, each.loop) or 0
                yield AppendedTensor(
                    where=each.made.place,
                    operations=[each.made.name],
                    # The first row is copied in each iteration, the last one once: on average half of the iterations.
                    left=min(2 * COPIES_OF_ROW.value / (iterations or ITERATIONS_UNKNOWN.value), 1.0),
                    iterations=iterations,
                    before=not each.is_argument(first),
                )

    def report(self, evidence: Evidence, part: Part[AppendedTensor]) -> Finding:
        """Advise a ``tf.TensorArray``."""
        iterations = part.cause.iterations
        row, joined = ("n - 1 - i", "[row[None], rows]") if part.cause.before else ("i", "[rows, row[None]]")
        return self.finding(
            evidence,
            part,
            "tf.concat in a loop copies all earlier rows in each iteration",
            "Collect the rows in a tf.TensorArray: rows = tf.TensorArray(tf.float32, n) before the loop, "
            f"rows = rows.write({row}, row) instead of rows = tf.concat({joined}, 0), and rows.stack() after the "
            "loop. Or: rows.concat() if an iteration appends several rows; tf.transpose after it if they are appended "
            "along another axis.",
            "Nothing in the loop reads the tensor but the concatenation, which writes all of it again. So the work "
            "grows with the square of the number of iterations.",
            *([count("iterations", iterations)] if iterations else []),
        )
