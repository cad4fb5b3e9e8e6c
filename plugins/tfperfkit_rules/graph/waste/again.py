"""GRF023 of rows of a batch that stay the same, and of the repetitions of a loop that tracing unrolled."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.graph.optable import is_heavy
from tfperfkit.model import Finding
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.eager_assignments import eager_assignments


def stacked(evidence: Evidence) -> Iterator[Finding]:
    """GRF023, of some rows of a batch. What is assigned to beside compiled functions (by an optimizer that is applied
    there) is fewer than the network's weights, so it is not these."""
    for part in found(evidence, "stacked"):
        figures = part.waste.figures
        if shared.MOSTLY.value * figures["variables"] <= eager_assignments(evidence):
            continue
        same, rows = round(figures["same"]), round(figures["rows"])
        yield finding(
            evidence,
            part,
            codes.SAME_ARGUMENT,
            f"{same} of the {rows} rows that go through a network are the same in each call",
            "Run the network on these rows once, before the loop, keep what comes out, and put only the others through "
            "it in each call; what is compared with them then takes the kept results.",
            "tf.concat puts them beside the others at this line, the results are taken apart again, and no weight "
            "of the network is trained here. Backward they cost as much as the others.",
            count("rows", rows),
            count("rows that stay the same", same),
        )


def unrolled(evidence: Evidence) -> Iterator[Finding]:
    """GRF023, of a loop that tracing unrolled; where the trace shows that nothing took the repetitions together."""
    unit = evidence.unit
    step = evidence.offer(ComputedStep)
    if step is None:
        return
    for part in found(evidence, "unrolled"):
        times, names = part.waste.figures["times"], set(part.waste.operations)
        mine = (row for row in step.operations if row.of in names and row.stage == "forward")
        ran = sum(row.runs for row in mine if is_heavy(row.type))
        if ran < shared.MOSTLY.value * part.waste.figures["products"]:
            continue
        made = finding(
            evidence,
            part,
            codes.SAME_ARGUMENT,
            f"What is computed {round(times):,} times in {unit.a} is the same each time",
            "Of what is computed at this line, do once, before the Python loop whose turns all call it, what no turn "
            "changes (a layer called on the same tensor: keys = self.project(values)), and hand its result to the "
            "turns; what changes with the turn stays where it is.",
            "The very same tensors and weights go in, no random numbers are drawn and no variable changes between, so "
            "the results are equal. Each reads the weights anew, so TensorFlow does not take them together. Gradients "
            "go through what is computed once as well: those of the turns are added up first.",
            count(f"times in {unit.a}", times),
        )
        yield msgspec.structs.replace(made, absorbs_here=(*made.absorbs_here, codes.REPEATED_FORWARD))
