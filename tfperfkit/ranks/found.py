"""What only all ranks together show, as findings: one comes late, or evaluates while the others wait."""

from __future__ import annotations

from tfperfkit.gain import Gain, from_shares, severity, up_to
from tfperfkit.model import Finding, Measurement
from tfperfkit.ranks import numbers
from tfperfkit.ranks.arrival import Late
from tfperfkit.ranks.cause import Cause
from tfperfkit.remedy import Remove

LATE, EVALUATES = "DST008", "DST009"
_EVALUATION = "evaluation"
_ADVICE = {
    "input": "Make its input as quick as the others': the same files and disks, the same share of the data.",
    "tracing": "Give its compiled function values of the same kind as on the others, so that it is traced once.",
    "garbage collection": "Take the collections by hand out of the step, on all ranks alike.",
    "saving": "Save seldom, or in the background (tf.train.CheckpointOptions(enable_async=True)).",
    _EVALUATION: "Evaluate on all ranks, each a part of the data; seldom, or in a process of its own (an evaluator).",
    "Python": "Take what it alone does out of the step: into a thread, or to where the training ends.",
    "alone": "Take what it alone does there out of the step, divide it among the ranks, or do it seldom.",
    "more work": "Give all ranks batches of the same size; one with a quicker processor alone may have more.",
    "slower processor": "Give it the processors that the others have, or less of the work.",
}
_ELSE = "Look at its own report beside that of another rank."


def findings(late: Late | None, why: Cause | None, turn_ms: float) -> tuple[Finding, ...]:
    """The finding of a late rank; none where nobody is late. ``turn_ms``: of a step and what passes until the next.

    All that the others wait goes if the rank comes with them; of what the cause explains at least a half.
    """
    if late is None or turn_ms <= 0:
        return ()
    share = min(late.wait_ms / turn_ms, 1.0)
    caused = min(why.ms / turn_ms, share) if why is not None else 0.0
    gained: Gain = from_shares(numbers.MIN_CAUSE.value * caused, share) if why is not None else up_to(share)
    evaluates = why is not None and why.kind == _EVALUATION
    made = [Measurement("the others wait for it", late.wait_ms, "ms", "breakdown")]
    if why is not None:
        made.append(Measurement(f"{why.kind}: more than on the others", why.ms, "ms", "breakdown"))
    if late.of and not late.rare:
        made.append(Measurement(f"of the {late.unit} it is the last", late.times / late.of, "share", "breakdown"))
    what = "evaluates while the others wait" if evaluates else "comes late to the exchange"
    finding = Finding(
        code=EVALUATES if evaluates else LATE,
        family="distribution",
        remedy=Remove(),
        title=f"{late.rank[:1].upper()}{late.rank[1:]} {what}",
        severity=severity(gained.surely if why is not None else numbers.LIKELY_SAVED.value * share),
        basis="turn",
        share_of_step=share,
        gain=gained,
        where=(why.where,) if why is not None and why.where is not None else (),
        evidence=tuple(made),
        advice=_ADVICE.get(why.kind, _ELSE) if why is not None else _ELSE,
        detail=why.words if why is not None else "",
        parts=("collectives",),
    )
    return (finding,)
