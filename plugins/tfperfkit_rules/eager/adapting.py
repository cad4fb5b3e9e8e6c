"""EAG015: a Keras preprocessing layer is adapted over small batches, or over the whole data several times.

Stack samples give the time in ``adapt``, and the input pipeline gives its batch size and its number of passes. The gain
assumes batches of 1,024 examples, or a single pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit.calibration import UNKNOWN_PART, Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import BatchSize
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.measures.called import ADAPT, find_call_at, is_calling, name_receiver
from tfperfkit_rules.measures.loop_iterations import where

TITLES = {"EAG015": "Layer.adapt runs in small batches or repeated passes"}

ADAPT_BATCH = Threshold(
    1024, "examples", "batch of the data for adapt, as advised", Chosen("it needs little memory and few calls")
)
ADAPT_BATCH_MAX = Threshold(
    64,
    "examples",
    "largest batch of an adapt that is mostly the calls of its operations",
    Chosen("a sixteenth of ADAPT_BATCH"),
)
ADAPT_LEFT_MIN = Threshold(
    0.01,
    "share",
    "minimum share of an adapt over batches of one that remains with large batches",
    Measured(
        "6,000 rows of 8 numbers in batches of one 6.7 to 20.5 s, of 1024 0.03 to 0.06 s; 6,000 texts 62 to 108 s and "
        "0.16 to 0.36 s; batches of 32 left 0.14 to 0.31 of their time",
        TWO_BUSY_CORES,
        3,
    ),
)
ADAPT_LEFT_MAX = Threshold(
    0.2,
    "share",
    "maximum share of an adapt over batches of one that remains with large batches",
    Chosen("what the pipeline itself takes for each example is unknown"),
)
ADAPT_PASSES = Threshold(
    3,
    "count",
    "minimum number of passes over the data by adapt",
    Chosen("two passes are two layers; more grow with the columns"),
)

_BATCHES = ("Batch", "ParallelBatch", "PaddedBatch", "RaggedBatch")


class _Words(NamedTuple):
    title: str
    advice: str
    detail: str


def adapted(evidence: Evidence) -> Iterable[Finding]:
    """The finding; its share is what samples saw in ``adapt``."""
    samples, data = evidence.samples, evidence.offer(InputData)
    if evidence.work is None or samples.count < MIN or data is None:
        return
    at: Counter[Place] = Counter()
    for stack, count in samples.stacks.items():
        if stack.frames and is_calling(evidence, stack.frames[-1], ADAPT):
            at[stack.frames[-1].file, stack.frames[-1].line] += count
    share = at.total() / samples.count
    if share < MIN_SHARE.value:
        return
    place = at.most_common(1)[0][0]
    pipelines = [item for item in data.pipelines if (item.file, item.line) in at and item.stages]
    batch = max((_batch(item) for item in pipelines), default=0)
    passes = sum(item.iterators for item in pipelines)
    part = Part.sampled(share, samples.count)
    layer = name_receiver(find_call_at(evidence, place, ADAPT), "layer")
    if 0 < batch <= ADAPT_BATCH_MAX.value:
        ratio = batch / ADAPT_BATCH.value
        left = Left(max(ADAPT_LEFT_MIN.value, ratio), max(ADAPT_LEFT_MAX.value, ratio))
        gained = price(BatchSize("adapt"), part, left)
        words = _small(layer, batch)
    elif passes >= ADAPT_PASSES.value:
        saved = 1 - 1 / passes
        gained = price(BatchSize("adapt"), part, Left.saved(saved * UNKNOWN_PART.value, saved))
        words = _describe_passes(layer, passes)
    else:
        return
    yield Finding(
        code="EAG015",
        remedy=BatchSize("adapt"),
        title=words.title,
        share_of_step=share,
        gain=gained,
        where=where(evidence, [item for item, _ in at.most_common(3)]),
        evidence=(
            Measurement("time in adapt", share, "share", "samples"),
            *([Measurement("examples per batch of adapt", float(batch), "count", "run")] if batch else []),
            Measurement("passes of adapt over the data", float(passes), "count", "run"),
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=words.advice,
        detail=words.detail,
        absorbs=("EAG008", "INP001", "INP003", "INP004", "INP007", "INP012"),
        absorbs_here=("LIN001", "SYN001", "STP003"),
        parts=("eager_ops", "dispatch", "input", "python", "host_sync", "tracing", "other"),
    )


def _small(layer: str, batch: int) -> _Words:
    return _Words(
        f"{layer}.adapt runs in batches of {batch}",
        f"Pass {layer}.adapt large batches: dataset.batch({ADAPT_BATCH.value}). Or: if the data is in memory, pass the "
        f"array: {layer}.adapt(array).",
        "Keras runs eager operations for each batch, so small batches are mostly overhead. The batch size "
        "hardly changes the result.",
    )


def _describe_passes(layer: str, passes: int) -> _Words:
    return _Words(
        f"{layer}.adapt runs in {passes} passes over the data",
        f"Read the data once into arrays, then pass each layer its column: {layer}.adapt(columns[name]). Or: add "
        ".cache() to the dataset before the first adapt.",
        "Each adapt reads and prepares the whole dataset to use one column. The result is the same.",
    )


def _batch(pipeline: Pipeline) -> int:
    """Examples in an element at its end; 0 where that is not known."""
    sizes = [stage.parameters.get("batch_size") for stage in pipeline.stages if stage.kind in _BATCHES]
    if sizes:
        return sizes[0] if isinstance(sizes[0], int) else 0
    known = ("TensorSlice", "TextLine", "TFRecord", "Range")
    return 1 if pipeline.stages[-1].kind in known and not any(stage.is_python for stage in pipeline.stages) else 0
