"""GRF032: an optimizer brings many small variables up to date one by one."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Wasted

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.on_purpose import weighed
from tfperfkit_rules.graph.waste.pricing import Part, count, finding, found
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_calls import methods


def updates(evidence: Evidence) -> Iterator[Finding]:
    """GRF032, by variables of few numbers whose updates take several operations each, and by the time of these."""
    unit = evidence.unit
    for part in found(evidence, "update"):
        if part.upper * (evidence.step_ms or 0.0) < shared.FUNCTION_CALL_MAX_MS.value:
            continue  # a call of the step may take as long: that is what to save then
        figures = part.waste.figures
        variables, each = round(figures["variables"]), round(figures["operations"])
        made = finding(
            evidence,
            part,
            codes.SMALL_UPDATES,
            f"{variables:,} small variables are brought up to date one by one, with {each} operations each: "
            f"{100 * part.share:.0f} % of {unit.a}",
            _advice(part),
            f"Half of them have no more than {round(figures['numbers']):,} numbers, so that each operation takes as "
            "long to start as to run, whatever the batch.",
            count("small variables", variables),
            count("numbers in one, by the median", figures["numbers"]),
            count("operations for each", each),
            *_measured(evidence),
        )
        yield weighed(made, part, *_asked(evidence))


def _advice(part: Part[Wasted]) -> str:
    figures = part.waste.figures
    alike, shapes = round(figures["alike"]), round(figures["shapes"])
    share = "share a shape" if shapes == 1 else f"come in {shapes} shapes"
    together = (
        "Let the optimizer see the small ones as one variable, made before the loop (flat = tf.keras.Variable("
        "tf.concat([tf.reshape(each, [-1]) for each in small], 0))): apply it to their gradients, put together in the "
        "same way, and assign the parts of tf.split(flat, sizes) back. An optimizer that goes number by number (SGD, "
        "Adam, RMSprop) gives the same weights. That is what the factor is for; this finding's page has the lines."
    )
    stacked = (
        f" {alike:,} of them {share}: layers alike that stand side by side can be one, with an axis "
        "more in its weights (tf.einsum('bni,nio->bno', x, kernels)), which also takes the forward and backward pass "
        "together and gains more."
    )
    return together + (stacked if alike > shared.MOSTLY.value * figures["variables"] else "")


def _measured(evidence: Evidence) -> Iterator[Measurement]:
    """All updates of a step: how many operations, what they take, and what memory alone would."""
    unit = evidence.unit
    step = evidence.offer(ComputedStep)
    rows = [row for row in step.operations if row.stage == "update"] if step is not None else []
    if rows:
        yield Measurement(f"operations of updates {unit.per}", sum(row.runs for row in rows), "count", "tfprof")
        yield Measurement(f"updates {unit.per}", sum(row.ms for row in rows), "ms", "tfprof")
        moved = sum(row.bytes or 0.0 for row in rows) / shared.MEMORY_MIN_BYTES.value
        yield Measurement("of it moving their bytes, at most", moved, "ms", "tfprof")


def _asked(evidence: Evidence) -> list[SourceSpan]:
    """The lines that hand the gradients over, or the optimizer to Keras."""
    return [SourceSpan(file, call.lineno) for file, call in methods(evidence, "compile", "apply_gradients", "apply")]
