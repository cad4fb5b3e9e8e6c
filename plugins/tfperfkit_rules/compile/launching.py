"""CMP006: starting many small operations takes longer than computing them, and XLA would fuse them into few."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import UNKNOWN_PART, Measured, Threshold
from tfperfkit.graph.optable import is_heavy
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.compile import xla_place
from tfperfkit_rules.measures.growth import growth
from tfperfkit_rules.measures.room import CALL_START_MS, HEADROOM_STEPS, find_left
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.measures.xla_shapes import compiled_by_xla

#: The titles of the findings' pages.
TITLES = {
    "CMP006": "Launching small graph operations takes much of the step",
}

STARTING_SHARE = Threshold(
    0.25,
    "share",
    "minimum share of a compiled step in starting operations for XLA to be worth a try",
    Measured("2.1 of 3.1 ms and 4.7 of 13.3 gained 1.8 and 1.9 times, 0.5 of 4.7 ms gained 1.1", TWO_BUSY_CORES, 4),
)
HEAVY_SHARE = Threshold(
    0.4,
    "share",
    "maximum share of a compiled step in matmuls and convolutions for XLA to be offered",
    Measured(
        "steps with 0.6 and 0.7 of their time there became 0.56 times as fast with XLA, with 0.2 and 0.35 1.8 and 1.9 "
        "times as fast",
        TWO_BUSY_CORES,
        4,
    ),
)


def launching(evidence: Evidence) -> Iterable[Finding]:
    """Headroom: ``jit_compile=True``, where products and convolutions are the smaller part: XLA on a processor has no
    oneDNN, so those may get slower."""
    unit = evidence.unit
    data, found = evidence.offer(ComputedStep), growth(evidence)
    if data is None or found is None or compiled_by_xla(evidence) or xla_place.auto_jit(evidence):
        return
    if evidence.steps.count < HEADROOM_STEPS.value or data.ms <= 0:
        return
    runs = sum(row.runs for row in data.operations)
    starting = max(0.0, found.gaps_ms - CALL_START_MS.value)
    heavy = sum(row.ms for row in data.operations if is_heavy(row.type)) / data.ms
    if starting < STARTING_SHARE.value * found.graph_ms or heavy > HEAVY_SHARE.value:
        return
    whole = found.step_ms + found.between_ms
    small = (1 - heavy) * found.graph_ms - found.gaps_ms
    lower, upper = starting * UNKNOWN_PART.value, starting + max(0.0, small) * UNKNOWN_PART.value
    sites = reached(evidence, "batch", "call", "apply")
    fit = bool(sites) and sites[0].kind == "batch"
    yield Finding(
        code="CMP006",
        remedy=Setting("jit_compile", "on"),
        title=f"Launching {runs:,.0f} small graph operations takes {100 * starting / found.step_ms:.0f} % of {unit.a}",
        severity="info",
        share_of_step=min(starting / found.step_ms, 1.0),
        gain=price(Setting("jit_compile"), left=find_left(whole, lower, upper)),
        where=(span(evidence, sites[0].file, sites[0].line),) if sites else (),
        evidence=(Measurement(f"operations that run in {unit.a}", runs, "count", "breakdown"), *found.evidence()),
        advice=(
            "Try "
            + ("compile(..., jit_compile=True)" if fit else f"@tf.function(jit_compile=True) on {unit.the}")
            + ", and "
            "keep it only if it is faster."
        ),
        detail="XLA compiles small operations into few kernels. The first call takes seconds, again for each new "
        "shape, and results may differ in the last digits.",
        parts=("graph",),
        headroom=True,
    )
