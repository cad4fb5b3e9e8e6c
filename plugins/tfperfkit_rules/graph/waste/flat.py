"""GRF022: a dense layer on all places of a picture holds nearly all weights, and takes much of each step."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Brief, Wasted

from tfperfkit.gain import at_least, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import graph as calibrated
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.functions import definition, places
from tfperfkit_rules.graph.waste.pricing import candidates, count, often
from tfperfkit_rules.measures import shared

#: What pooling in halves leaves along one axis, two and three.
_PART = ("half", "a quarter", "an eighth")


def flat(evidence: Evidence) -> Iterator[Finding]:
    """GRF022: its product, forward and backward, and the updates of its weights. The costliest layer."""
    data = evidence.offer(ComputedStep)
    if data is None or evidence.work is not None or data.ms <= 0:
        return
    made = [found for each in candidates(evidence, "flat") if (found := _finding(evidence, data, *each)) is not None]
    yield from sorted(made, key=lambda item: -item.share_of_step)[:1]


def _finding(evidence: Evidence, data: ComputedStep, function: Brief, waste: Wasted) -> Finding | None:
    unit = evidence.unit
    figures, names = waste.figures, set(waste.operations)
    weights = figures["numbers"] * figures["units"]
    axes = round(figures.get("axes", 2))
    shape = f"{figures['numbers']:.0f}×{figures['units']:.0f}"
    of_all = figures["bytes"] / function.parameter_bytes if function.parameter_bytes else 0.0
    scale = evidence.share("graph") / data.ms
    own = scale * sum(row.ms for row in data.operations if row.of in names and row.stage != "update")
    updates = scale * sum(
        row.ms for row in data.operations if row.stage == "update" and shape in row.shapes.replace(",", "").split()
    )
    share = min(own + updates, shared.MAX_STEP_SHARE.value)
    if share < calibrated.MIN_FLAT.value or of_all < shared.MOSTLY.value:
        return None
    return Finding(
        code=codes.FLATTENED,
        family="graph",
        title=f"{100 * share:.0f} % of {unit.a}"
        f" is a dense layer on {often(figures['numbers'])} numbers of each example",
        severity=severity(share),
        share_of_step=share,
        gain=at_least(calibrated.WASTE_SAVED_MIN.value * share * (1 - 1 / figures["places"])),
        where=places([waste.where, definition(function)]),
        evidence=(
            count("weights of the layer", weights),
            Measurement("of all weights", min(of_all, 1.0), "share", "run"),
            Measurement(f"share of {unit.the}, forward and backward", own, "share", "breakdown"),
            Measurement(f"share of {unit.the}, updating its weights", updates, "share", "breakdown"),
        ),
        advice=(
            f"layers.GlobalAveragePooling{axes}D() in place of layers.Flatten() gives the layer "
            f"{often(figures['channels'])} numbers in place of {often(figures['numbers'])}; a MaxPooling{axes}D() "
            f"before it {_PART[axes - 1]} of them. It is another model, with far fewer weights: compare how well it "
            "learns."
        ),
        detail=(
            f"It has a weight for each of {often(figures['places'])} places, {often(figures['channels'])} channels and "
            f"{often(figures['units'])} units. Each is read forward, read and written backward, and read and written "
            "with its moments by the optimizer, whatever the batch."
        ),
        absorbs=("BAT002",),
        absorbs_here=("STP003", "GRF003"),
        parts=("graph",),
    )
