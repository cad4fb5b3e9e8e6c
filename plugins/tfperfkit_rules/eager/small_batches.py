"""EAG004, for one ``predict`` or ``evaluate`` that goes through its data in batches that are too small."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.gain import MEDIUM, from_shares, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN
from tfperfkit.remedy import BatchSize
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import EVALUATE, called_at, receiver
from tfperfkit_rules.measures.keras_batches import keras_batches
from tfperfkit_rules.measures.machines import TWO_BUSY_CORES
from tfperfkit_rules.measures.predicting import MIN_SETTING_UP, predicting
from tfperfkit_rules.measures.turns import where

PREDICT_BATCH_MS = Threshold(
    2.0,
    "ms",
    "maximum time of a batch of predict outside of its computation",
    Measured("1.6 ms in 400 batches of one row, 1.3 ms in 200 batches of 32 rows", TWO_BUSY_CORES, 5),
)
BATCHES_LEFT_MAX = Threshold(
    0.5,
    "share",
    "maximum share of the time of predict outside of its computation that larger batches leave",
    Measured(
        "400 rows in batches of 1 and of 400: 703 and 64 ms; 6,400 rows in batches of 32 and of 1,024: 392 and 149 ms",
        TWO_BUSY_CORES,
        5,
    ),
)

EACH_BATCH = "Each batch costs Keras a round of its loop and a call of its function, whatever is in it."


def larger_batches(model: str, name: str) -> str:
    """What to do, for a model and a method of Keras by their names in the script."""
    return (
        f"Give {model}.{name} larger batches: batch_size=1024, or as many as memory holds; without the argument it "
        "takes 32. A dataset's batches are set by its batch(), a PyDataset's by its __getitem__."
    )


def batches_too_small(evidence: Evidence) -> Iterable[Finding]:
    """The finding, where what Keras does around a batch, and the call of its function, take most of its time."""
    samples = evidence.samples
    if evidence.work is None or samples.count < MIN:
        return
    found = predicting(evidence, samples.stacks.items())
    whole = found.at.total()
    if not whole or found.setting_up >= MIN_SETTING_UP.value * whole or found.again(evidence):
        return
    place = found.at.most_common(1)[0][0]
    waits = sum(
        count
        for stack, count in samples.stacks.items()
        if stack.activity == "input" and stack.frames and (stack.frames[-1].file, stack.frames[-1].line) in found.at
    )
    batches = keras_batches(evidence, place)
    if waits >= shared.MOSTLY.value * whole or batches is None or batches.each_ms <= 0:
        return
    each_ms = batches.each_ms
    around = 1 - found.computing / whole
    calling = min(found.computing / whole, shared.FUNCTION_CALL_MIN_MS.value / each_ms)
    own = around + calling
    if batches.growing_ms is not None:  # its function starts as many operations for one row as for all
        own = max(own, 1 - batches.growing_ms / each_ms)
    # A longer batch than that computes, whatever the samples saw the thread do meanwhile.
    own = min(own, PREDICT_BATCH_MS.value / each_ms)
    overhead = own * whole / samples.count
    if own < shared.MOSTLY.value or overhead < MEDIUM:
        return
    gained = from_shares(
        overhead * (1 - BATCHES_LEFT_MAX.value), min(whole / samples.count, shared.MAX_STEP_SHARE.value)
    )
    name = "evaluate" if found.api is EVALUATE else "predict"
    model = receiver(called_at(evidence, place, found.api))
    yield Finding(
        code="EAG004",
        family="eager",
        remedy=BatchSize("predict"),
        title=f"{model}.{name} goes through its data in batches that are too small",
        severity=severity(gained.surely),
        share_of_step=min(overhead, 1.0),
        gain=gained,
        where=where(evidence, [place]),
        evidence=(
            Measurement("time around the computing", overhead, "share", "samples"),
            Measurement("batches", float(batches.number), "count", "run"),
            Measurement("one batch", each_ms, "ms", "run"),
        ),
        advice=larger_batches(model, name),
        detail=EACH_BATCH,
        absorbs=("INP001", "INP012"),
        absorbs_here=("LIN001",),
        parts=("evaluate", "graph", "dispatch", "eager_ops", "input"),
    )
