"""GRF034: a loop in a compiled function copies a tensor in each iteration to append to it."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import LOOPS
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

COPIES_OF_ROW = Threshold(
    2, "copies", "number of copies of each row that a tf.TensorArray makes", Derived("one in write(), one in stack()")
)
ITERATIONS_UNKNOWN = Threshold(
    40,
    "iterations",
    "assumed number of iterations of a loop, if unknown",
    Chosen("in a shorter loop the copies hardly take a tenth of a step"),
)


class AppendedTensor(Cause, frozen=True, kw_only=True):
    """``iterations`` of the loop, 0 if unknown."""

    iterations: int


class AppendedInLoop(GraphRule[AppendedTensor]):
    """Finds what an iteration returns for the next: the same tensor with rows after it, and nothing else reads it in
    the loop."""

    code = "GRF034"
    title = "tf.concat in a loop copies all earlier rows"

    def find(self, view: View) -> Iterator[AppendedTensor]:
        """Yield the concatenations that only make a tensor longer."""
        for loop in view.forward:
            bodies = [view.graph.body(name) for key in ("body", "cond") for name in loop.functions().get(key, ())]
            if loop.type not in LOOPS or len(bodies) != 2 or bodies[0] is None or bodies[1] is None:
                continue
            for appends in _find_appends(view.inside(bodies[0]), view.inside(bodies[1])):
                iterations = iterations_of(view.graph, loop) or 0
                yield AppendedTensor(
                    where=appends.place,
                    operations=[appends.name],
                    # The first row is copied in each iteration, the last one once: on average half of the iterations.
                    left=min(2 * COPIES_OF_ROW.value / (iterations or ITERATIONS_UNKNOWN.value), 1.0),
                    iterations=iterations,
                )

    def report(self, evidence: Evidence, part: Part[AppendedTensor]) -> Finding:
        """Advise a ``tf.TensorArray``."""
        iterations = part.cause.iterations
        return self.finding(
            evidence,
            part,
            "tf.concat in a loop copies all earlier rows in each iteration",
            "Collect the rows in a tf.TensorArray: rows = tf.TensorArray(tf.float32, n) before the loop, "
            "rows = rows.write(i, row) instead of rows = tf.concat([rows, row[None]], 0), and rows.stack() after the "
            "loop. Or: rows.concat() if an iteration appends several rows; tf.transpose after it if they are appended "
            "along another axis.",
            "Nothing in the loop reads the tensor but the concatenation, which writes all of it again. So the work "
            "grows with the square of the number of iterations.",
            *([count("iterations", iterations)] if iterations else []),
        )


def _find_appends(body: View, condition: View) -> Iterator[Node]:
    """Yield the concatenations of an argument of a loop that nothing else in its body and condition reads."""
    tested = condition.graph.slots
    for number, (slot, result) in enumerate(zip(body.graph.slots, body.graph.record.results, strict=False)):
        made, argument = body.made(result), body.nodes.get(slot)
        if made is None or argument is None or made.type != "ConcatV2" or body.source(made, 0) is not argument:
            continue
        reads = [use.node.name for use in body.uses(argument)]
        others = {use.node.name for use in body.uses(made)} - {result}
        if reads == [made.name] and not others and _is_unread(condition, tested, number):
            yield made


def _is_unread(condition: View, slots: list[str], number: int) -> bool:
    """Return whether a condition asks an argument for nothing but its size."""
    argument = condition.nodes.get(slots[number]) if number < len(slots) else None
    return argument is not None and argument.name not in condition.results and not condition.uses(argument)
