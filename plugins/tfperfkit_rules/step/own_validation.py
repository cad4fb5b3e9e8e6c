"""STP006, STP011: the script's own pass over data after each epoch, over held-out or over the training data.

Such a loop calls the model and trains nothing: no update and no gradient was seen in it. The probe ``input`` shows
whether it iterates over the training dataset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.facts import NOTHING
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import Every, Remove
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.measures.own_passes import at_epoch_end, computes, in_pass
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.step.epoch_ends import EPOCH_ENDS_MIN_SHARE, EPOCHS_LEFT_MAX, EPOCHS_LEFT_MIN, EPOCHS_MIN

_LEFT = Left(EPOCHS_LEFT_MIN.value, EPOCHS_LEFT_MAX.value)


def validated_by_hand(evidence: Evidence) -> Iterable[Finding]:
    """For the loop that takes most of the run."""
    whole = evidence.run.wall_s * 1e9
    if evidence.work is not None or whole <= 0:
        return
    ns: Counter[Place] = Counter()
    computed: dict[Place, Counter[Place]] = {}
    seen: dict[Place, list[int]] = {}
    for when, stack, took in moments(evidence):
        loop = in_pass(evidence, stack, within_steps=False) or at_epoch_end(evidence, stack)
        if loop is None:
            continue
        ns[loop] += took
        seen.setdefault(loop, []).append(evidence.steps.number_at(when))
        if computes(evidence, stack) or loop == (stack.frames[-1].file, stack.frames[-1].line):
            computed.setdefault(loop, Counter())[stack.frames[-1].file, stack.frames[-1].line] += took
    for loop, took in ns.most_common(1):
        share, times = min(took / whole, 1.0), len(set(seen[loop]))
        often = len(seen[loop]) >= MIN and times >= EPOCHS_MIN.value
        if often and share >= EPOCH_ENDS_MIN_SHARE.value:
            yield from _make_finding(evidence, loop, computed.get(loop, Counter()), share, took, times, len(seen[loop]))


def _make_finding(
    evidence: Evidence, loop: Place, at: Counter[Place], share: float, ns: int, times: int, samples: int
) -> Iterable[Finding]:
    training = _trained_on(evidence, loop)
    if not at and not training:
        return  # what it is for is not known
    remedy = Remove("evaluation") if training else Every("validate")
    lines = [span(evidence, *place) for place, _ in at.most_common(2)]
    yield Finding(
        code="STP011" if training else "STP006",
        remedy=remedy,
        title=(
            f"Evaluation repeats what training has just measured: {100 * share:.0f} % of the run"
            if training and at
            else f"A pass over the training data in each epoch computes nothing: {100 * share:.0f} % of the run"
            if training
            else f"Validation after each epoch takes {100 * share:.0f} % of the run"
        ),
        basis="run",
        share_of_step=share,
        gain=price(remedy, Part.sampled(share, samples), NOTHING if training else _LEFT),
        where=tuple(dict.fromkeys((*lines, span(evidence, *loop), *training))),
        evidence=(
            Measurement("share of the run in this pass", share, "share", "run"),
            Measurement("time in this pass", ns / 1e6, "ms", "samples"),
            Measurement("times the data is passed", float(times), "count", "samples"),
            Measurement("samples", float(samples), "count", "samples"),
        ),
        advice=_IDLE if training and not at else _AGAIN if training else _RARELY,
        detail=""
        if training and not at
        else _DETAIL
        if training
        else "Epochs are short compared with the work after each epoch.",
        absorbs=("INP013",),
        absorbs_here=("STP001", "STP003", "EAG004", "EAG008", "EAG013", "INP001", "INP012", "RET012"),
        parts=("graph", "eager_ops", "dispatch", "input"),
    )


_RARELY = (
    "Validate every fifth epoch: if epoch % 5 == 0. Or: validate on a part of the data (dataset.take(n)) or in larger "
    "batches, or make epochs longer."
)
_IDLE = (
    "Ask for the number of batches once, before the epochs: dataset.cardinality(). Or: count in the loop that trains; "
    "sums over the data stay the same, unless it is augmented."
)
_AGAIN = (
    "Update the metrics in the training step, from its predictions: metric.update_state(y, predictions), then "
    "metric.result() and metric.reset_state() once an epoch."
)
_DETAIL = (
    "Such metrics are means over the epoch, while the weights change. For the last weights, evaluate on a part of the "
    "data, or every fifth epoch."
)


def _trained_on(evidence: Evidence, loop: Place) -> tuple[SourceSpan, ...]:
    """The loop that trains on the same dataset; empty where it is another one."""
    data = evidence.offer(InputData)
    around = {
        (item.file, item.line) for site in reached(evidence, "call", "apply", "train_on_batch") for item in site.loops
    }
    for row in data.pipelines if data is not None else ():
        lines = {(item.file, item.line) for item in row.shared}
        if loop in lines and (trained := lines & around):
            return tuple(span(evidence, *place) for place in sorted(trained)[:1])
    return ()
