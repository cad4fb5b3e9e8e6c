"""STP013: the numbers of steps that ``fit`` is given do not match the size of its data.

The probe ``input`` sees these numbers, the examples of a dataset of arrays, and the examples per batch. A validation is
reported if it repeats its data at least 1.5 times, and at least 10 % of the run could be left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from tfperfkit_probes.input.model import InputData, KerasInput, Pipeline, ShortData, Stage

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.step.epoch_ends import EPOCH_ENDS_MIN_SHARE, EPOCHS_MIN

PASSES_MIN = Threshold(
    1.5, "number", "minimum number of passes over its data in one validation", Chosen("half of it again")
)

CODE = "STP013"
TITLES = {CODE: "steps_per_epoch or validation_steps does not match the data"}
#: Stages that give as many elements as they take.
_KEEPS = ("Map", "ParallelMap", "Shuffle", "Prefetch", "Cache", "MemoryCache", "Options", "Repeat", "AssertCardinality")
_BATCHES = ("Batch", "ParallelBatch", "PaddedBatch")


def steps_beyond_data(evidence: Evidence) -> Iterable[Finding]:
    """For validation that goes through its data several times, for epochs as long as there are examples, and, as a
    remark, for data that ran out."""
    data = evidence.offer(InputData)
    if data is None:
        return
    for row in data.keras:
        pipeline = data.pipelines[row.pipeline] if row.pipeline is not None else None
        size = _size(pipeline) if pipeline is not None and row.kind == "tf.data" and row.steps else None
        if size is None or row.way != "fit":
            continue
        examples, batch = size
        if row.validation:
            yield from _validated(evidence, row, examples, batch)
        elif evidence.work is None and row.steps == examples and batch >= EPOCHS_MIN.value:
            yield _counted_examples(row, examples, batch)
    if evidence.work is None:
        yield from (_short(row) for row in data.ran_out if row.had < row.asked or row.times > 1)


def _validated(evidence: Evidence, row: KerasInput, examples: int, batch: int) -> Iterator[Finding]:
    assert row.steps is not None
    passes = row.steps * batch / examples
    if passes < PASSES_MIN.value:
        return
    ns = seen = 0
    for _, stack, took in moments(evidence):
        leaf = stack.frames[-1] if stack.frames else None
        if stack.context == "evaluate" and leaf is not None and (leaf.file, leaf.line) == (row.file, row.line):
            ns, seen = ns + took, seen + 1
    share = min(ns / (evidence.run.wall_s * 1e9), 1.0) if evidence.run.wall_s else 0.0
    saved = 1 - math.ceil(examples / batch) / row.steps
    if seen < MIN or share * saved < EPOCH_ENDS_MIN_SHARE.value:
        return
    work = evidence.work  # nearly all of the work, if it is one; else its share of the run
    own = min(ns / (work.seconds * 1e9), 1.0) if work is not None else share
    yield Finding(
        code=CODE,
        remedy=Setting("validation_steps"),
        title=f"validation_steps does not match the data: each validation repeats it {passes:,.1f} times",
        basis="run" if work is None else "step",
        share_of_step=own * saved,
        gain=price(Setting("validation_steps"), Part.sampled(own, seen), Left.exactly(1 - saved)),
        where=(SourceSpan(row.file, row.line, row.function),),
        evidence=(
            Measurement("batches per validation", float(row.steps), "count", "run"),
            Measurement("examples in the data", float(examples), "count", "run"),
            Measurement("examples per batch", float(batch), "count", "run"),
            Measurement("share of the run in validation", share, "share", "samples"),
        ),
        advice=(
            "Remove validation_steps and the repeat() of this dataset. Or: count batches, not examples: "
            f"validation_steps={math.ceil(examples / batch)}."
        ),
        detail="validation_steps counts batches, not examples, and a repeated dataset never ends by itself.",
        absorbs=("STP006", "STP010"),
        absorbs_here=("INP012", "INP001", "RET012"),
        parts=("evaluate", "dispatch", "input", "tracing", "graph"),
    )


def _counted_examples(row: KerasInput, examples: int, batch: int) -> Finding:
    return Finding(
        code=CODE,
        remedy=Setting("validation_steps"),
        title=f"steps_per_epoch does not match the data: each epoch repeats it {batch:,} times",
        severity="low",
        basis="run",
        share_of_step=0.0,
        where=(SourceSpan(row.file, row.line, row.function),),
        evidence=(
            Measurement("batches per epoch", float(row.steps or 0), "count", "run"),
            Measurement("examples in the data", float(examples), "count", "run"),
            Measurement("examples per batch", float(batch), "count", "run"),
        ),
        advice=(
            "Remove steps_per_epoch and repeat(). Or: count batches, not examples: "
            f"steps_per_epoch={math.ceil(examples / batch)}."
        ),
        detail="An epoch then trains on fewer batches, so check that the model still learns enough.",
    )


def _short(row: ShortData) -> Finding:
    what = "validation_steps" if row.validation else "steps_per_epoch" if row.way == "fit" else "steps"
    return Finding(
        code=CODE,
        remedy=Setting("validation_steps"),
        title=f"{what} does not match the data: {row.asked:,}, and there are {row.had:,} batches",
        severity="info",
        basis="run",
        share_of_step=0.0,
        where=(SourceSpan(row.file, row.line, row.function),),
        evidence=(
            Measurement("batches asked for", float(row.asked), "count", "run"),
            Measurement("batches in the data", float(row.had), "count", "run"),
            Measurement("epochs that ended early", float(row.times), "count", "run"),
        ),
        advice=f"Remove {what}: an epoch is then one pass over the data. Or: add .repeat() to the dataset.",
        detail=(
            "Keras warns that the input ran out of data, and ends the epoch there. The run trains less than it was "
            "asked to."
        ),
    )


def _size(pipeline: Pipeline) -> tuple[int, int] | None:
    """(examples that a pass has, examples of a batch) of a pipeline that repeats without end; None where its stages
    don't tell."""
    stages = [stage for stage in pipeline.stages if not stage.added]
    if not any(stage.kind == "Repeat" and stage.parameters.get("count") in (-1, None) for stage in stages):
        return None
    *above, source = stages
    batch, limit = 1, math.inf
    for stage in above:
        size = stage.parameters.get("batch_size")
        count = stage.parameters.get("count")
        if stage.kind in _BATCHES and isinstance(size, int):
            batch *= size
        elif stage.kind == "Take" and isinstance(count, int) and count > 0 and batch == 1:
            limit = min(limit, count)
        elif stage.kind not in _KEEPS:
            return None
    examples = _examples(source)
    return (min(examples, int(limit) if limit < math.inf else examples), batch) if examples else None


def _examples(source: Stage) -> int | None:
    """Of arrays whose rows are the elements."""
    if source.kind != "TensorSlice" or not source.bytes_per_element or not source.memory_bytes:
        return None
    return source.memory_bytes // source.bytes_per_element
