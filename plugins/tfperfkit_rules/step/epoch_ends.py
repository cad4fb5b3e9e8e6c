"""STP006: what ``fit`` does after each epoch (validation, checkpoints) takes at least 10 % of the run.

Stack samples of the whole run show Keras' validation, and its callbacks that save, below a line that calls ``fit``. The
gain assumes that every second to every fifth one remains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import MIN, Place, Stack
from tfperfkit.remedy import Every
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import FIT, is_calling
from tfperfkit_rules.measures.late_skips import late_skips
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.measures.source_calls import find_given
from tfperfkit_rules.measures.step_shares import span

EPOCH_ENDS_MIN_SHARE = Threshold(
    0.1,
    "share",
    "minimum share of the run in what follows each epoch",
    Chosen("a tenth of the run needs an explanation"),
)
EPOCHS_MIN = Threshold(
    3,
    "epochs",
    "minimum number of epochs that it followed, for 'after each epoch'",
    Chosen("fewer show no pattern and cost little"),
)
EPOCHS_LEFT_MIN = Threshold(
    0.2, "share", "minimum share that remains of what follows each epoch", Derived("the advice: every fifth epoch")
)
EPOCHS_LEFT_MAX = Threshold(
    0.5, "share", "maximum share that remains of what follows each epoch", Derived("every second epoch")
)

TITLES = {"STP006": "Validation or saving after each epoch slows the run"}
_What = Literal["validation", "saving"]
#: The parts of an account that it is.
_PARTS: dict[_What, tuple[PartName, ...]] = {
    "validation": ("evaluate", "dispatch", "input", "tracing", "graph"),
    "saving": ("saving", "dispatch", "python"),
}
_SAVERS = ("keras.callbacks.ModelCheckpoint", "keras.callbacks.BackupAndRestore")
#: Share of the time that is left if every second one, or every fifth one, is made.
_LEFT = Left(EPOCHS_LEFT_MIN.value, EPOCHS_LEFT_MAX.value)


class _Ends(NamedTuple):
    """``ns`` that it took in the run, after ``epochs``, by so many ``samples``; ``at``: the lines of ``fit``."""

    ns: int
    epochs: int
    samples: int
    at: Counter[Place]


def after_epochs(evidence: Evidence) -> Iterable[Finding]:
    """For validation and for saving one each, of the run; of a work where that is what the work is."""
    whole = evidence.run.wall_s * 1e9
    if whole <= 0 or not evidence.log.whole:
        return
    for what, found in _measure_ends(evidence).items():
        if what == "validation" and found.ns * shared.MOSTLY.value <= _skipped_ns(evidence):
            continue  # INP008 tells why it takes so long
        if found.samples >= MIN and found.epochs >= EPOCHS_MIN.value:
            share = min(found.ns / whole, 1.0)
            if share >= EPOCH_ENDS_MIN_SHARE.value:
                yield _make_finding(evidence, what, found, share)


def _skipped_ns(evidence: Evidence) -> float:
    return 1e9 * sum(row.seconds for row in late_skips(evidence) if row.pipeline.role == "validation")


def _measure_ends(evidence: Evidence) -> dict[_What, _Ends]:
    ns: Counter[_What] = Counter()
    number: Counter[_What] = Counter()
    at: dict[_What, Counter[Place]] = {"validation": Counter(), "saving": Counter()}
    visits: Counter[_What] = Counter()
    before: _What | None = None
    inside: dict[Stack, _What | None] = {}
    steps = evidence.steps
    last_step: dict[_What, int] = {}
    for when, stack, took in moments(evidence):
        kind = inside[stack] if stack in inside else inside.setdefault(stack, _what(evidence, stack))
        if kind is not None:
            ns[kind] += took
            number[kind] += 1
            at[kind][stack.frames[-1].file, stack.frames[-1].line] += took
            step = steps.number_at(when) if evidence.work is None else 0
            if before != kind or last_step.get(kind) != step:
                visits[kind] += 1
            last_step[kind] = step
        before = kind
    return {what: _Ends(ns[what], visits[what], number[what], at[what]) for what in at if number[what]}


def _what(evidence: Evidence, stack: Stack) -> _What | None:
    """Name the part of a ``fit`` call in a sample; other rules report the script's own calls."""
    if not stack.frames or not is_calling(evidence, stack.frames[-1], FIT):
        return None
    if stack.activity == "saving" and stack.context == "callback":
        return "saving"
    return "validation" if stack.context == "evaluate" else None


def _make_finding(evidence: Evidence, what: _What, found: _Ends, share: float) -> Finding:
    lines = tuple(span(evidence, *place) for place, _ in found.at.most_common(2))
    work = evidence.work
    # Nearly all of the work, if it is one; else its share of the run.
    own = min(found.ns / (work.seconds * 1e9), 1.0) if work is not None else share
    small = small_validation(evidence, found.at.most_common(1)[0][0]) if what == "validation" else None
    batched = (small.at,) if small is not None and small.at is not None else ()
    left = _left(evidence, small, found) if small is not None else _LEFT
    made = _list_savers(evidence) if what == "saving" else ()
    steps = evidence.steps.count if work is None else 0
    return Finding(
        code="STP006",
        remedy=Every("validate"),
        title=f"{what.capitalize()} {f'in batches of {small.size}' if small is not None else 'after each epoch'} takes "
        f"{100 * share:.0f} % of {'the run' if work is None else evidence.unit.loop}",
        basis="run" if work is None else "step",
        share_of_step=own,
        gain=price(Every("validate"), Part.sampled(own, found.samples), left),
        where=tuple(dict.fromkeys((*batched, *made, *lines))),
        evidence=(
            Measurement(f"share of the run in {what}", share, "share", "run"),
            Measurement(f"time in {what}", found.ns / 1e6, "ms", "samples"),
            Measurement("epochs counted", found.epochs, "count", "samples"),
            *(
                [Measurement("examples per validation batch", float(small.size), "count", "run")]
                if small is not None
                else []
            ),
            *([Measurement("training steps", float(steps), "count", "run")] if steps else []),
            Measurement("samples", float(found.samples), "count", "samples"),
        ),
        advice=_write_advice(evidence, what) if small is None else _larger(small),
        detail="Epochs are short compared with the work after each epoch."
        if small is None
        else "Each batch costs a call, however small it is. The results are the same, except for rounding.",
        absorbs_here=("INP012", "INP001", "RET012"),
        parts=_PARTS[what],
    )


def _left(evidence: Evidence, small: Small, found: _Ends) -> Left:
    """Of validation in such batches, what larger ones leave: at most as many training steps as hold its examples, for
    these compute the same and the gradients too."""
    after_ms = found.ns / 1e6 / found.epochs
    steps = small.number * small.size / small.trained
    most = steps * (evidence.step_ms or 0.0) / after_ms if after_ms > 0 else 0.0
    return Left(0.0, min(most, _LEFT.high) if most > 0 else _LEFT.high)


def _larger(small: Small) -> str:
    how = f".batch({small.trained})" if small.at is not None else f"fit(..., validation_batch_size={small.trained})"
    return (
        f"Validate in batches at least as large as those of the training: {how}. "
        "Or: validate every fifth epoch: fit(..., validation_freq=5)."
    )


_ADVICE: dict[_What, str] = {
    "validation": "Validate every fifth epoch: fit(..., validation_freq=5). Or: make epochs longer (steps_per_epoch "
    "with a repeated dataset), or validate on a part (validation_steps) in larger batches (validation_batch_size).",
    "saving": "Save the best model only: ModelCheckpoint(..., save_best_only=True). Or: save every so many steps "
    "(save_freq=1000), or make epochs longer.",
}


_BEST_IS_OFTEN = (
    "Keep the best weights in memory, and save once after fit: EarlyStopping(monitor=..., patience=epochs, "
    "restore_best_weights=True), then model.save(...). Or: make epochs longer."
)


def _write_advice(evidence: Evidence, what: _What) -> str:
    """Return what to do, without what the script does already."""
    if what == "saving" and find_given(evidence, "save_best_only", lambda value: value.is_constant(True)):
        return _BEST_IS_OFTEN
    return _ADVICE[what]


def _list_savers(evidence: Evidence) -> tuple[SourceSpan, ...]:
    return tuple(span(evidence, item.file, item.line) for item in evidence.calls(*_SAVERS))[:2]


SMALL_VALIDATION = Threshold(
    8,
    "times",
    "minimum ratio of the training's batch to the validation's, for a small validation batch",
    Chosen("the forward pass alone takes a third of a training step, so a batch half as large is no cause"),
)

_BATCHES = ("Batch", "ParallelBatch", "PaddedBatch", "RaggedBatch", "MapAndBatch")


class Small(NamedTuple):
    """How many examples a batch of validation and of training has. ``number``: validation batches after an epoch, 0 if
    unknown. ``at``: where the batches are made; None if Keras makes them of arrays."""

    size: int
    trained: int
    number: int
    at: SourceSpan | None


def small_validation(evidence: Evidence, fit: Place) -> Small | None:
    """Find validation batches that are much smaller than training batches; None if there are none, or one is
    unknown."""
    data = evidence.offer(InputData)
    if data is None:
        return None
    trained = next((size for item in data.pipelines if item.in_training and (size := _size(item)[0])), 0)
    trained = trained or evidence.steps.batch_size or 0
    for row in data.keras:
        if not row.validation or (row.file, row.line) != fit:
            continue
        pipeline = data.pipelines[row.pipeline] if row.pipeline is not None and row.kind != "arrays" else None
        size, at = _size(pipeline) if pipeline is not None else (row.batch_size or 0, None)
        if 0 < size * SMALL_VALIDATION.value <= trained:
            return Small(size, trained, row.batches or 0, at)
    return None


def _size(pipeline: Pipeline) -> tuple[int, SourceSpan | None]:
    """The examples in a batch at the end of a pipeline, and where it is made; 0 if no stage tells."""
    for stage in pipeline.stages:
        size = stage.parameters.get("batch_size")
        if stage.kind in _BATCHES and isinstance(size, int) and size > 0:
            return size, SourceSpan(stage.file, stage.line, stage.function) if stage.by == "user" else None
    return 0, None
