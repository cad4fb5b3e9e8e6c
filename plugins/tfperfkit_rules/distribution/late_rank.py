"""DST008, DST009: a rank reaches the exchange late, or evaluates while the others wait.

The report of all ranks shows how long each rank needs until the exchange. Reported if the others wait at least 10 % of
a step for one rank. The cause is what this rank does more of than the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import Gain
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers.late_rank import EVALUATION, LateRank
from tfperfkit.pricing import Part, bound, price
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence

CAUSE_SAVED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of the wait that a cause explains, that goes with the cause",
    Chosen("the rank may still be the last, by less"),
)
TITLES = {
    "DST008": "One rank reaches the gradient exchange late",
    "DST009": "One rank evaluates while the others wait",
}
_ADVICE = {
    "input": "Give the rank the same input as the others: the same files and disks, the same share of the data.",
    "tracing": "Pass the compiled function values of the same kind as on the other ranks, so that it is traced once.",
    "garbage collection": "Remove gc.collect() from {unit.the}, on all ranks.",
    "saving": "Save in the background: tf.train.CheckpointOptions(enable_async=True). Or: save less often.",
    EVALUATION: "Evaluate on all ranks, each on a part of the data. Or: evaluate less often, or in another process.",
    "Python": "Move what this rank alone does out of {unit.the}, to the end of the training. Or: into a thread.",
    "alone": "Move what this rank alone does out of {unit.the}. Or: divide it among the ranks, or do it less often.",
    "more work": "Give all ranks batches of the same size. Or: larger ones to ranks with faster CPUs only.",
    "slower processor": "Give the rank the same CPU as the others. Or: give it less work.",
}
_ELSE = "Compare the report of this rank with that of another rank."


def late_rank(evidence: Evidence) -> Iterator[Finding]:
    """DST008, DST009: all that the others wait goes if the rank comes with them."""
    found = evidence.offer(LateRank)
    if found is None or found.turn_ms <= 0:
        return
    late, why = found.late, found.cause
    share = min(late.wait_ms / found.turn_ms, 1.0)
    caused = min(why.ms / found.turn_ms, share) if why is not None else 0.0
    gained: Gain = price(Remove(), Part(CAUSE_SAVED_MIN.value * caused, share)) if why is not None else bound(share)
    evaluates = why is not None and why.kind == EVALUATION
    figures = [Measurement("time the other ranks wait for this rank", late.wait_ms, "ms", "breakdown")]
    if why is not None:
        figures.append(Measurement(f"additional time on this rank in {why.kind}", why.ms, "ms", "breakdown"))
    if late.of and not late.rare:
        figures.append(
            Measurement(
                f"share of the {late.unit} in which this rank is last", late.times / late.of, "share", "breakdown"
            )
        )
    what = "evaluates while the others wait" if evaluates else "reaches the gradient exchange late"
    yield Finding(
        code="DST009" if evaluates else "DST008",
        remedy=Remove(),
        title=f"{late.rank[:1].upper()}{late.rank[1:]} {what}",
        basis="turn",
        share_of_step=share,
        gain=gained,
        where=(why.where,) if why is not None and why.where is not None else (),
        evidence=tuple(figures),
        advice=(_ADVICE.get(why.kind, _ELSE) if why is not None else _ELSE).format(unit=evidence.unit),
        detail=why.words if why is not None else "",
        parts=("collectives",),
    )
