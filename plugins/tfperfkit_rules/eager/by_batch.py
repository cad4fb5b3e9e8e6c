"""EAG014: Keras' Python around each ``train_on_batch`` takes a good part of a training step.

Stack samples give the time in ``train_on_batch`` outside compiled functions. The gain replaces it with the call of one
compiled step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import Place
from tfperfkit.remedy import CallDirectly
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.measures.called import TRAIN_ON_BATCH, find_call_at, is_calling, name_receiver
from tfperfkit_rules.measures.loop_iterations import basis, stretch, where
from tfperfkit_rules.measures.step_place import reached

TITLES = {"EAG014": "Keras' Python around train_on_batch takes much of a step"}

BY_BATCH_SAVED_MIN = Threshold(
    0.6,
    "share",
    "minimum share saved by a tf.function of one's own, of the time of train_on_batch outside of its compiled step",
    Measured(
        "0.68 to 1.25, median 0.98; with the loss read back in each step 0.43 to 1.02, median 0.84", TWO_BUSY_CORES, 7
    ),
)
BY_BATCH_SAVED_MAX = Threshold(
    1.0,
    "share",
    "maximum share saved by a tf.function of one's own, of the time of train_on_batch outside of its compiled step",
    Measured("see BY_BATCH_SAVED_MIN: the iterator inside the graph goes too", TWO_BUSY_CORES, 7),
)

_AROUND: tuple[PartName, ...] = ("dispatch", "eager_ops", "host_sync")


def trained_by_batch(evidence: Evidence) -> Iterable[Finding]:
    """The finding; its share is what runs in these calls outside of compiled functions."""
    account = evidence.account
    if account is None or evidence.work is not None or not reached(evidence, "train_on_batch"):
        return
    iterations = stretch(evidence)
    if iterations is None:
        return
    at: Counter[Place] = Counter()
    outside = 0
    for stack, weight in iterations.found:
        leaf = stack.frames[-1] if stack.frames else None
        if stack.activity in _AROUND:
            outside += weight
            if leaf is not None and is_calling(evidence, leaf, TRAIN_ON_BATCH):
                at[leaf.file, leaf.line] += weight
    # How long is known from the trace too, in the account; samples say of whom.
    around = at.total() / max(1, outside) * evidence.part(*_AROUND) / iterations.iteration_ms
    if around < MIN_SHARE.value:
        return
    left = Left.saved(BY_BATCH_SAVED_MIN.value, BY_BATCH_SAVED_MAX.value)
    gained = price(CallDirectly("fit"), Part.sampled(around, len(iterations.found)), left)
    places = [place for place, _ in at.most_common()]
    model = name_receiver(find_call_at(evidence, places[0], TRAIN_ON_BATCH))
    yield Finding(
        code="EAG014",
        remedy=CallDirectly("fit"),
        title=f"Keras' Python around train_on_batch takes {100 * around:.0f} % of {evidence.unit.a}",
        basis=basis(evidence, iterations.iteration_ms),
        share_of_step=around,
        gain=gained,
        where=where(evidence, places),
        evidence=(
            Measurement("train_on_batch time outside compiled functions", around, "share", "breakdown"),
            Measurement("mean iteration of the loop", iterations.iteration_ms, "ms", "baseline"),
        ),
        advice=(
            f"Write one function with @tf.function: tf.GradientTape, {model}(x, training=True), the loss, "
            f"optimizer.apply_gradients. Call it with tensors. Or: if nothing happens between batches, use {model}.fit "
            "over a dataset, with compile(..., steps_per_execution=20)."
        ),
        detail="Each train_on_batch call checks and converts its data, creates an iterator, and reads the loss and all "
        "metrics back.",
        absorbs=("STP003", "BAT001"),
        absorbs_here=("LIN001", "SYN001"),
        parts=_AROUND,
    )
