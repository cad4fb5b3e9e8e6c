"""STP011: ``evaluate`` after each epoch goes through data that ``fit`` has just measured.

The probe ``input`` sees what each Keras method is given: the same pipeline, or arrays of the same size that the source
does not name differently. Reported from 10 % of the run, after three calls.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData, KerasInput

from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import EVALUATE, FIT, find_call_at, name_receiver
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.step.epoch_ends import EPOCH_ENDS_MIN_SHARE, EPOCHS_MIN

TITLES = {"STP011": "evaluate repeats what fit has just measured"}


def measured_again(evidence: Evidence) -> Iterable[Finding]:
    """For the call that takes most of the run."""
    data = evidence.offer(InputData)
    whole = evidence.run.wall_s * 1e9
    if evidence.work is not None or data is None or whole <= 0 or not evidence.log.whole:
        return
    fits = [row for row in data.keras if row.way == "fit"]
    again: dict[Place, tuple[KerasInput, KerasInput]] = {}
    for row in data.keras:
        if row.way == "evaluate" and row.times >= EPOCHS_MIN.value:
            known = next((item for item in fits if _has_same_data(evidence, row, item)), None)
            if known is not None:
                again[row.file, row.line] = row, known
    if not again:
        return
    ns: dict[Place, int] = dict.fromkeys(again, 0)
    seen: dict[Place, int] = dict.fromkeys(again, 0)
    for _, stack, took in moments(evidence):
        place = (stack.frames[-1].file, stack.frames[-1].line) if stack.frames else ("", 0)
        if place in again and stack.context == "evaluate":
            ns[place] += took
            seen[place] += 1
    place = max(again, key=lambda item: ns[item])
    share = min(ns[place] / whole, 1.0)
    if seen[place] >= MIN and share >= EPOCH_ENDS_MIN_SHARE.value:
        yield _make_finding(evidence, *again[place], share, ns[place], seen[place])


def _make_finding(evidence: Evidence, row: KerasInput, fit: KerasInput, share: float, ns: int, samples: int) -> Finding:
    model = name_receiver(find_call_at(evidence, (row.file, row.line), EVALUATE))
    which = "validation" if fit.validation else "training"
    return Finding(
        code="STP011",
        remedy=Remove("evaluation"),
        title=f"{model}.evaluate repeats what fit has just measured on the {which} data",
        basis="run",
        share_of_step=share,
        gain=price(Remove("evaluation"), Part.sampled(share, samples)),
        where=(SourceSpan(row.file, row.line, row.function), SourceSpan(fit.file, fit.line, fit.function)),
        evidence=(
            Measurement("share of the run in evaluate", share, "share", "run"),
            Measurement("time in evaluate", ns / 1e6, "ms", "samples"),
            Measurement("calls of evaluate", float(row.times), "count", "run"),
            Measurement("samples", float(samples), "count", "samples"),
        ),
        advice=_VALIDATION if fit.validation else _TRAINING,
        detail=(
            ""
            if fit.validation
            else "fit's metrics are means over the epoch, while the weights change. For the last weights, evaluate on "
            "a part of the data, or after every fifth epoch."
        ),
        absorbs_here=("STP001", "EAG004", "STP006", "INP012", "RET012"),
        parts=("evaluate",),
    )


_VALIDATION = (
    'Read what fit has measured: logs["val_loss"] in on_epoch_end(self, epoch, logs). Or: history.history["val_loss"], '
    "next to the metrics that compile was given."
)
_TRAINING = (
    'Read what fit has measured: logs["loss"] in on_epoch_end(self, epoch, logs). Or: history.history["loss"], next to '
    "the metrics that compile was given."
)


def _has_same_data(evidence: Evidence, row: KerasInput, fit: KerasInput) -> bool:
    """Whether both got the same data: the same pipeline, or arrays of the same size that the source does not name
    differently."""
    if row.kind != fit.kind:
        return False
    if row.kind == "tf.data":
        return row.pipeline is not None and row.pipeline == fit.pipeline
    if row.kind != "arrays" or not row.arrays_bytes or row.arrays_bytes != fit.arrays_bytes:
        return False
    evaluating = find_call_at(evidence, (row.file, row.line), EVALUATE)
    fitting = find_call_at(evidence, (fit.file, fit.line), FIT)
    ours = evaluating.get_argument("x", 0) if evaluating is not None else None
    theirs = fitting.get_argument(*(("validation_data",) if fit.validation else ("x", 0))) if fitting else None
    if fit.validation and theirs is not None and theirs.items:
        theirs = theirs.items[0]
    if row.file != fit.file or ours is None or theirs is None or not ours.kind == theirs.kind == "name":
        return True
    return ours.text == theirs.text
