"""GRF018 of a function of the user's own: the sequences that it is called with are mostly padding."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste.padded import KIND

from tfperfkit import gain
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import graph as calibrated
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.functions import places
from tfperfkit_rules.graph.traced_step import graph_severity
from tfperfkit_rules.measures.ran_functions import Ran, ran
from tfperfkit_rules.measures.room import range_or_least
from tfperfkit_rules.measures.step_shares import span


def padded_calls(evidence: Evidence) -> Iterator[Finding]:
    """In a work too: what it computes grows with the sequences. What keeps a square of their length (attention) gains
    more than is predicted."""
    for each in ran(evidence):
        if each.function.owner == "user":
            for waste in each.function.marks.wasted:
                if waste.kind == KIND:
                    yield from _finding(evidence, each, waste)
                    return


def _finding(evidence: Evidence, each: Ran, waste: Wasted) -> Iterator[Finding]:
    figures = waste.figures
    width, mean, longest, alike = (figures[name] for name in ("width", "mean", "longest", "alike"))
    computed = each.share * (1 - _updates(evidence))
    share, saved = computed * (1 - mean / width), computed * (1 - alike / width)
    low, high = gain.speedups(calibrated.PADDING_SAVED_MIN.value * saved, calibrated.PADDING_SAVED_MAX.value * saved)
    if gain.saving(low) < calibrated.PADDING_MIN.value:
        return
    unit, name = evidence.unit, each.function.function
    called = f"the function called at line {each.place[1]}" if name.startswith("<") else name
    seen = f"{figures['rows']:,.0f} sequences that were looked at"
    short = f"Of the {seen} none is longer than {longest:,.0f}, and all are padded to {width:,.0f}. "
    yield Finding(
        code=codes.PADDING,
        family="graph",
        remedy=ReplaceOps("less_padding"),
        title=f"{100 * (1 - mean / width):.0f} % of the sequences that {called} computes is padding",
        severity=graph_severity(share),
        share_of_step=share,
        gain=range_or_least(low, high),
        where=places([span(evidence, *each.place), waste.where]),
        evidence=(
            Measurement("length of the sequences", width, "count", "run"),
            Measurement("without padding, in the mean", mean, "count", "run"),
            Measurement("the longest", longest, "count", "run"),
            Measurement("in batches of like lengths", alike, "count", "run"),
            Measurement("sequences that were looked at", figures["rows"], "count", "run"),
            Measurement(f"share of {unit.the} that computes for padding", share, "share", "breakdown"),
        ),
        advice=(
            f"{short if longest < width else ''}Sort the sequences by length, pad each batch to its own longest "
            "(rounded up to a multiple of 8, say: few lengths), and put the results back in order. The function takes "
            "tensors of open length then: input_signature=[tf.TensorSpec([None, None], tf.int32)], say."
        ),
        detail=(
            "Each position is computed, and attention compares each with each; a mask changes results, not the work."
        ),
        parts=("graph",),
    )


def _updates(evidence: Evidence) -> float:
    """Of a traced step, the share (0 to 1) that updates weights: that does not grow with the sequences."""
    step = evidence.offer(ComputedStep)
    if step is None or evidence.work is not None or not step.ms:
        return 0.0
    return sum(item.ms for item in step.operations if item.stage == "update") / step.ms
