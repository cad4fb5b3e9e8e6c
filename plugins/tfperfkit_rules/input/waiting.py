"""INP001, INP004: the step waits for its input.

The wait is the time in fetches that Python sees, and in compiled functions the time in which only a fetch runs. It is
reported from 5 % of the step and 0.1 ms. A missing prefetch is reported only if neither the pipeline nor the trace
shows one, as TensorFlow adds one to most pipelines.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData, Stage

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import InputPrefetch, RanOperations
from tfperfkit.pricing import Part, price
from tfperfkit.records.steps import Site
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import (
    MIN_MS,
    Feed,
    feed,
    feeding,
    is_distributed,
    name_at,
    name_stage,
    own_time,
    place,
    places,
    waiting,
)
from tfperfkit_rules.measures.fit_calls import FIT_CALLS_MAX_STEP_MS
from tfperfkit_rules.measures.input_bounds import MIN_WAIT
from tfperfkit_rules.measures.mapped_function import share_operations

PLAIN_MS = Threshold(
    FIT_CALLS_MAX_STEP_MS.value,
    "ms",
    "maximum time per step of a stage without a function of the script's that is left alone",
    Derived("in a step this short its calls decide, see FIT_CALLS_MAX_STEP_MS"),
)

COSTLY = Threshold(
    0.2,
    "share",
    "minimum share of the time of a mapped function in operations of a type that is named",
    Chosen("a few are named, and they are half of it together"),
)

TITLES = {
    "INP001": "tf.data input keeps the step waiting",
    "INP004": "Dataset has no prefetch, so the step waits",
}
#: Stages of which the kind says what to change.
_CHANGED = ("Shuffle", "Batch", "PaddedBatch")
#: Advice if the slowest stage is a library's.
_LIBRARY = (
    "Use a larger batch_size: Keras, or the library that made the pipeline, then takes fewer batches out of the data. "
    "Or: write a tf.data pipeline that does less for each batch."
)


def no_prefetch(evidence: Evidence) -> Iterator[Finding]:
    """INP004: batches are made only when the step asks for them, so the two take turns.

    TensorFlow puts a prefetch at the end of most pipelines by itself (its "inject_prefetch"). Adding one there gained
    0.83 to 1.15 (median 1.0) in five pairs, so it is reported only where neither the model nor the trace shows any.
    """
    unit = evidence.unit
    item = feed(evidence)
    if item is None or item.overlaps or any(stage.kind == "Prefetch" for stage in item.pipeline.stages):
        return
    seen = evidence.offer(InputPrefetch)
    if (seen is not None and seen.there) or not (item.pipeline.measured or seen is not None):
        return
    end = place(item.pipeline.stages[0], item.pipeline)
    yield Finding(
        code="INP004",
        remedy=ChangeStage("prefetch"),
        title=f"Dataset has no prefetch, so {unit.the} waits",
        share_of_step=item.share,
        gain=price(ChangeStage("prefetch"), left=item.after(item.wait_ms, item.wait_ms)),
        where=places(evidence, end, SourceSpan(item.pipeline.file, item.pipeline.line, item.pipeline.function)),
        evidence=(
            *waiting(item, evidence.unit),
            Measurement(f"time of {unit.the} without the wait", item.other_ms, "ms", "breakdown"),
            Measurement("CPU cores", item.cpus, "count", "run"),
        ),
        advice=f"End the dataset with .prefetch(tf.data.AUTOTUNE) at {name_at(evidence, end)}.",
        detail=f"A batch is prepared only when {unit.the} asks for it; with prefetch both run at the same time.",
        absorbs=("INP001",),
    )


def waits(evidence: Evidence) -> Iterator[Finding]:
    """INP001: the step waits; whatever explains it better absorbs this."""
    unit = evidence.unit
    item = feed(evidence)
    if item is None:
        yield from _unknown(evidence)
        return
    stage = item.bound
    rest_ms = item.section_ms * (1 - item.part(stage)) if stage is not None else 0.0
    where = places(evidence, place(stage, item.pipeline), stage.mapped if stage is not None else None)
    library = stage is not None and _of_library(evidence, stage)
    settled = library or (stage is not None and stage.mapped is None and not item.filling)
    plain = settled and item.section_ms < PLAIN_MS.value
    slow = f", slowest in {name_stage(stage)}" if stage is not None and not stage.added and not library else ""
    yield Finding(
        code="INP001",
        remedy=ChangeStage("keep_up"),
        severity="info" if plain or not (library or _names_change(stage)) else "low",
        title=f"tf.data input keeps {unit.the} waiting{slow}",
        share_of_step=item.share,
        gain=price(ChangeStage("keep_up"), left=item.rerun(max(item.other_ms, rest_ms), item.step_ms)),
        where=where,
        evidence=(
            *waiting(item, evidence.unit),
            *(own_time(stage) if stage is not None else ()),
            *_measured_by(evidence),
        ),
        advice=_LIBRARY if library else _advice(evidence, item),
        detail=(
            "Batches are prepared ahead, but preparing them is slower than computing."
            if item.overlaps
            else f"A batch is prepared only when {unit.the} asks for it."
        ),
    )


def _names_change(stage: Stage | None) -> bool:
    """Whether the advice says what to change: a function of the script, or more than that a stage is to be faster."""
    return stage is None or stage.mapped is not None or is_distributed(stage) or stage.kind in _CHANGED


def _of_library(evidence: Evidence, stage: Stage) -> bool:
    """Whether the stage's function is not the user's but Keras' own, which takes batches out of arrays."""
    return stage.mapped is not None and bool(evidence.files()) and not evidence.is_user(stage.mapped.file)


def _name_costly(evidence: Evidence, stage: Stage) -> str:
    """Name the operations that take most of the time of a stage's function; "" if that is not known."""
    shares = share_operations(evidence, stage)
    named = {kind: share for kind, share in shares.items() if share >= COSTLY.value}
    if sum(named.values()) < shared.MOSTLY.value:
        return ""
    words = ", ".join(f"{kind} ({100 * share:.0f} %)" for kind, share in named.items())
    return f". Most of its operations' time is in {words}. It"


def _unknown(evidence: Evidence) -> Iterator[Finding]:
    """The trace shows a wait, but no pipeline is known: made by a library, or in a way that can't be followed."""
    unit = evidence.unit
    step_ms, share, waited = evidence.step_ms, evidence.share("input"), evidence.part("input")
    data = evidence.offer(InputData)
    known = data is not None and bool(feeding(evidence, data))
    if step_ms is None or known or share < MIN_WAIT.value or waited < MIN_MS:
        return
    fetches = [
        SourceSpan(site.file, site.line, site.function)
        for site in evidence.sites()
        if site.kind == "next" and _inside(evidence, site)
    ]
    if not fetches and evidence.work is not None and evidence.work.kind == "call":
        return  # one batch, fetched once, waits for the shuffle's buffer to fill, say: nothing is to be made ahead
    yield Finding(
        code="INP001",
        remedy=ChangeStage("keep_up"),
        title=f"Input keeps {unit.the} waiting",
        share_of_step=share,
        gain=price(ChangeStage("keep_up"), Part(0.0, share)),
        where=tuple(fetches[:2]),
        evidence=(
            Measurement(f"share of {unit.the} waiting for input", share, "share", "breakdown"),
            Measurement(f"time waiting for input {unit.per}", waited, "ms", "breakdown"),
            *_measured_by(evidence),
        ),
        advice=(
            f"Prepare batches while {unit.the} computes: end the dataset with .prefetch(tf.data.AUTOTUNE). Or: fill a "
            "queue.Queue from a thread, for a loader of your own."
        ),
    )


def _inside(evidence: Evidence, site: Site) -> bool:
    """Whether a fetch is of the work that this is about."""
    work = evidence.work
    if work is None:
        return True
    loops = {(loop.file, loop.line) for loop in site.loops}
    return (work.where.file, work.where.line) in loops | {(site.file, site.line)}


def _measured_by(evidence: Evidence) -> list[Measurement]:
    """The busiest operation of the pipeline in the trace."""
    traced = evidence.offer(RanOperations)
    if traced is None or not traced.steps:
        return []
    busy = next((op for op in traced.input if not op.type.startswith("Iterator")), None)
    if busy is None:
        return []
    name = f"time of {busy.type}, the pipeline's busiest operation, {evidence.unit.per}"
    return [Measurement(name, busy.self_ms / traced.steps, "ms", evidence.offered_by(RanOperations))]


def _advice(evidence: Evidence, item: Feed) -> str:
    stage = item.bound
    if stage is None:
        return (
            "Run map in parallel: num_parallel_calls=tf.data.AUTOTUNE. Or: cache() what is the same in each epoch, "
            "batch before a cheap map, and end with prefetch(tf.data.AUTOTUNE)."
        )
    if is_distributed(stage):
        return (
            "Speed up the dataset that is given to the strategy: map with num_parallel_calls=tf.data.AUTOTUNE. Or: "
            "replace Python in it with TensorFlow functions, cache() what is the same in each epoch, and end with "
            "prefetch(tf.data.AUTOTUNE)."
        )
    if stage.kind in ("ParallelMap", "ParallelInterleave"):
        name = stage.mapped.function if stage.mapped is not None else "it"
        costly = _name_costly(evidence, stage)
        return (
            f"Make {name} do less{costly or ' (smaller images, cheaper operations): it'} already runs on all CPU cores "
            "that tf.data may use. Or: cache() what is the same in each epoch, or store the result once and read that."
        )
    if stage.kind == "Shuffle":
        return "Move shuffle before the map that loads the data, so that it holds file names or records."
    if stage.kind in ("Batch", "PaddedBatch"):
        return "Copy examples into batches in parallel: .batch(n, num_parallel_calls=tf.data.AUTOTUNE)."
    return f"Make {name_stage(stage)} faster. Or: cache() what is the same in each epoch."
