"""GRF023 of a Python loop that tracing unrolled: its iterations make the same products of the same tensors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.view import View
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.same_in_each import SameInEachCall
from tfperfkit_rules.measures import shared

UNROLLED_TIMES_MIN = Threshold(
    4,
    "times",
    "minimum number of times that one line multiplies the same tensors",
    Chosen("fewer are reported as a forward pass that runs twice"),
)
_READS = optable.names(kind="read")


class RepeatedProducts(Cause, frozen=True, kw_only=True):
    """Results made ``times`` times at a line, with ``products`` of products in all."""

    times: int
    products: int


class SameInUnrolled(GraphRule[RepeatedProducts]):
    """Recognised by the tensors that go in: one graph makes the same of the same, unless random numbers or an assigned
    variable are among it. The trace shows that nothing took the repetitions together."""

    code = SameInEachCall.code
    title = SameInEachCall.title

    def find(self, view: View) -> Iterator[RepeatedProducts]:
        """Yield by line the products that are made there often, and what is made of these and of constants alone."""
        lines: dict[SourceSpan, list[list[Node]]] = defaultdict(list)
        for line, nodes in _made_often(view, [node for node in view.forward if is_heavy(node.type)]):
            lines[line].append(nodes)
        if not lines:
            return
        follows = _made_often(view, [node for node in view.forward if node.inputs and node.type not in _READS])
        for line, groups in lines.items():
            times = min(len(nodes) for nodes in groups)
            made = [nodes for place, nodes in follows if place == line and len(nodes) >= times]
            yield RepeatedProducts(
                where=line,
                places=[line, *(SourceSpan(*frame) for frame in groups[0][0].stack[1:])],
                operations=[node.name for nodes in made for node in nodes],
                left=1 / times,
                times=times,
                products=sum(len(nodes) for nodes in groups),
            )

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report those of which most products ran."""
        step = evidence.offer(ComputedStep)
        if step is None:
            return
        for part in self.parts(evidence):
            names = set(part.cause.operations)
            mine = (row for row in step.operations if row.of in names and row.stage == "forward")
            ran = sum(row.runs for row in mine if is_heavy(row.type))
            if ran >= shared.MOSTLY.value * part.cause.products:
                yield self.report(evidence, part)

    def report(self, evidence: Evidence, part: Part[RepeatedProducts]) -> Finding:
        """Advise to do it once, before the loop."""
        times, unit = part.cause.times, evidence.unit
        made = self.finding(
            evidence,
            part,
            f"Loop-invariant computation repeated {times:,} times in {unit.a}",
            "Move the part of this line that no iteration changes before the Python loop, for example keys = "
            "self.project(values), and use its result in the iterations.",
            "The inputs are the same tensors and weights in each iteration, so the results are equal. Gradients flow "
            "through the moved part as before.",
            count(f"computations of the same result in {unit.a}", times),
        )
        return msgspec.structs.replace(made, absorbs_here=(*made.absorbs_here, "GRF001"))


def _made_often(view: View, nodes: list[Node]) -> list[tuple[SourceSpan, list[Node]]]:
    """Return those that are made often at one line, with it."""
    found: dict[tuple[object, SourceSpan], list[Node]] = defaultdict(list)
    for node in nodes:
        if node.place is not None:
            found[view.alike.make_key((node.name, 0)), node.place].append(node)
    return [(line, alike) for (_, line), alike in found.items() if len(alike) >= UNROLLED_TIMES_MIN.value]
