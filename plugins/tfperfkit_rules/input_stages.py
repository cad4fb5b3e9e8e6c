"""Stages that set the pace: work done one element at a time (INP003), in Python (INP005), or per example (INP007)."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input_model import InputData, KerasInput, Pipeline, Stage

from tfperfkit.evidence import Evidence
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules.input_feed import Feed, called, feed, middle, own_time, place, places, waiting

#: A stage is named when it has this share of the slowest section.
LEAST_PART = 0.3
#: Stages that work on one element after the other though they could work on several.
_READS = ("TFRecord", "TextLine", "FixedLengthRecord")
#: Calling a mapped function of 4 to 52 operations on 80 bytes took 18 to 38 us an example on two busy cores, whatever
#: their number (TensorFlow 2.21). It is cheap when it takes no more than twice that, and its elements are small.
CALL_US, OPERATION_US, SMALL_BYTES = 60.0, 1.0, 16_384
#: What is left of such a stage when it works on batches of at least this many: 0 to 0.01 of it in those pairs; more of
#: a function that does more.
LEAST_BATCH, LEFT = 8, (0.0, 0.3)
#: What is left of Python's part at most when it is written with NumPy or TensorFlow over whole batches: an assumption.
PYTHON_LEFT = 0.5


def python_input(evidence: Evidence) -> Iterator[Finding]:
    """INP005: a generator, py_function or PyDataset sets the pace."""
    item = feed(evidence)
    if item is None or item.bound is None:
        return
    stage = _python_stage(item.pipeline, item.bound)
    if stage is None or item.part(stage) < LEAST_PART:
        return
    source = _keras(evidence, item.pipeline)
    worked = item.section_ms * item.part(stage)
    rest = item.section_ms - worked
    low, _ = item.after(rest, rest + PYTHON_LEFT * worked)
    # The generator's Python also held the lock that the training thread needs.
    bounds = low, item.between(max(item.least_other_ms, rest), item.step_ms)[1]
    yield Finding(
        code="INP005", family="input", severity="low", title=f"Python prepares the batches: {_what(stage, source)}",
        share_of_step=item.share, predicted_speedup=middle(bounds), predicted_range=bounds,
        where=_python_places(evidence, item, stage, source),
        evidence=(*waiting(item), *own_time(stage), *_setup(source)),
        advice=_python_advice(stage, source),
        detail=(
            "Only one thread at a time runs Python: it is not sped up by num_parallel_calls, and it takes turns with "
            "the training thread's own Python."
        ),
        absorbs=("INP001", "INP003", "INP004", "OPS004"),
    )


def _python_stage(pipeline: Pipeline, bound: Stage) -> Stage | None:
    """The bounding stage itself, or the generator that runs inside it."""
    if bound.is_python:
        return bound
    index = pipeline.stages.index(bound)
    return next((stage for stage in pipeline.stages if stage.nested == index and stage.is_python), None)


def _keras(evidence: Evidence, pipeline: Pipeline) -> KerasInput | None:
    """The PyDataset or generator given to ``fit`` that Keras makes this pipeline of."""
    data = evidence.data("input", InputData)
    if data is None:
        return None
    index = data.pipelines.index(pipeline)
    kinds = ("PyDataset", "generator")
    return next((row for row in data.keras if row.pipeline == index and row.kind in kinds), None)


def _what(stage: Stage, source: KerasInput | None) -> str:
    if source is not None:
        return f"{source.cls or 'the'} {source.kind}" if source.kind == "PyDataset" else "a generator given to fit"
    return "a generator" if stage.kind == "Generator" else "a function called through py_function or numpy_function"


def _python_places(
    evidence: Evidence, item: Feed, stage: Stage, source: KerasInput | None
) -> tuple[SourceSpan, ...]:
    call = place(stage, item.pipeline)
    if source is None and stage.by == "keras":  # what Keras was given was not seen: the method, if there is only one
        methods = evidence.find(r"^\s+def __getitem__\s*\(")
        return places(evidence, methods[0] if len(methods) == 1 else None, call)
    if source is not None:
        return places(evidence, source.place, SourceSpan(source.file, source.line, source.function))
    if stage.kind != "Generator" and stage.mapped is not None:
        return places(evidence, _python_call(evidence, stage.mapped), stage.mapped, call)
    return places(evidence, call, stage.mapped)


def _python_call(evidence: Evidence, function: SourceSpan) -> SourceSpan | None:
    """The line of the mapped function that calls Python, the first after its ``def``."""
    lines = evidence.find(r"\b(py_function|numpy_function|py_func)\s*\(")
    after = [span.line for span in lines if span.file == function.file and span.line >= function.line]
    return SourceSpan(function.file, min(after), function.function) if after else None


def _setup(source: KerasInput | None) -> list[Measurement]:
    if source is None or source.workers is None:
        return []
    return [Measurement("workers", float(source.workers), "count", "run")]


def _python_advice(stage: Stage, source: KerasInput | None) -> str:
    if source is not None and source.kind == "PyDataset":
        where = f"{source.cls or 'the class'}.__getitem__"
        text = f"Work on the whole batch at once in {where}, with NumPy's functions over arrays"
        if not source.use_multiprocessing:
            text += "; or prepare batches in other processes: super().__init__(workers=4, use_multiprocessing=True)"
        return f"{text}."
    name = stage.mapped.function if stage.mapped is not None else "the generator"
    if stage.kind == "Generator":
        return (
            f"Let {name} yield whole batches instead of single examples, or, when the data fit into memory, replace it "
            "by tf.data.Dataset.from_tensor_slices(arrays).shuffle(n).batch(b). Write what it computes with TensorFlow "
            "operations in a map with num_parallel_calls=tf.data.AUTOTUNE."
        )
    return (
        f"Write what {name} does with TensorFlow operations, so that "
        "map(..., num_parallel_calls=tf.data.AUTOTUNE) runs it on all processors."
    )


def per_example(evidence: Evidence) -> Iterator[Finding]:
    """INP007: a cheap function is called for each example where it could be called for a batch."""
    item = feed(evidence)
    stage = item.bound if item is not None else None
    if item is None or stage is None or not is_cheap(item.pipeline, stage):
        return
    worked = item.section_ms * item.part(stage)
    rest = item.section_ms - worked
    bounds = item.relieved(rest + LEFT[0] * worked, rest + LEFT[1] * worked)
    size = _batch(item.pipeline, stage)
    each_us = (stage.self_ms_per_output or 0.0) * 1000 / size
    name = stage.mapped.function if stage.mapped is not None else "the function"
    yield Finding(
        code="INP007", family="input", severity="low",
        title=f"{name} is mapped over single examples, each of little work", share_of_step=item.share,
        predicted_speedup=middle(bounds), predicted_range=bounds,
        where=places(evidence, place(stage, item.pipeline), stage.mapped),
        evidence=(
            *waiting(item), Measurement("for one example", each_us / 1000, "ms", "run"),
            Measurement("operations in the function", stage.ops, "count", "run"),
            Measurement("examples in a batch", size, "count", "run"), *own_time(stage),
        ),
        advice=(
            f"Batch first, then map: .batch({size}).map({name}, num_parallel_calls=tf.data.AUTOTUNE). {name} then gets "
            "arrays with one more dimension in front."
        ),
        detail="Nearly all of its time is calling the function, once for each example.",
        absorbs=("INP001", "INP003", "INP004"),
    )


def is_cheap(pipeline: Pipeline, stage: Stage) -> bool:
    """Whether a mapped function does so little that calling it is most of its time."""
    if stage.kind not in ("Map", "ParallelMap") or stage.is_python or stage.stateful_or_random or not stage.ops:
        return False
    index = pipeline.stages.index(stage)
    sizes = [item.bytes_per_element for item in (stage, *pipeline.stages[index + 1 : index + 2])]
    size = _batch(pipeline, stage)
    if size < LEAST_BATCH or stage.self_ms_per_output is None:
        return False
    if any(item.kind in ("Batch", "PaddedBatch") for item in pipeline.stages[index + 1 :]):
        return False
    if any(item is None or item > SMALL_BYTES for item in sizes):
        return False  # shapes differ from example to example, or the work is in the bytes
    return stage.self_ms_per_output * 1000 / size <= CALL_US + OPERATION_US * stage.ops


def _batch(pipeline: Pipeline, stage: Stage) -> int:
    """The size of the batch that is made after this stage; 0 when there is none."""
    for item in pipeline.stages[: pipeline.stages.index(stage)]:
        size = item.parameters.get("batch_size")
        if item.kind in ("Batch", "PaddedBatch") and isinstance(size, int):
            return size
    return 0


def sequential(evidence: Evidence) -> Iterator[Finding]:
    """INP003: the stage that sets the pace works on one element after the other."""
    item = feed(evidence)
    stage = item.bound if item is not None else None
    if item is None or stage is None or item.cpus < 2 or stage.is_python:
        return
    kind = _sequential_kind(stage)
    if not kind or item.part(stage) < LEAST_PART:
        return
    worked = item.section_ms * item.part(stage)
    left = item.section_ms - worked + worked / item.cpus
    # The work does not get less. At best the step leaves processors to it; at worst the step uses all of them itself.
    bounds = item.between(max(item.other_ms, left), item.other_ms + left)
    name = called(stage)
    yield Finding(
        code="INP003", family="input", severity="low", title=f"{name} {kind}", share_of_step=item.share,
        predicted_speedup=middle(bounds), predicted_range=bounds,
        where=places(evidence, place(stage, item.pipeline), stage.mapped),
        evidence=(
            *waiting(item), *own_time(stage), Measurement("processors", item.cpus, "count", "run"),
            Measurement("of the slowest section", item.part(stage), "share", "tfprof" if item.lost else "run"),
        ),
        advice=_parallel_advice(stage, name),
        detail=(
            f"At most {item.cpus} times as fast, on {item.cpus} processors, and only as far as the step's own graph "
            "leaves them free."
        ),
        absorbs=("INP001", "INP004"),
    )


def _sequential_kind(stage: Stage) -> str:
    calls = stage.parameters.get("num_parallel_calls")
    if stage.kind == "Map" or (stage.kind == "ParallelMap" and calls == 1):
        return "prepares one element at a time"
    if stage.kind == "Interleave" or (stage.kind == "ParallelInterleave" and calls == 1):
        return "reads its files one after the other"
    if stage.kind in _READS and stage.parameters.get("num_parallel_reads") in (None, 1):
        return "reads its files one after the other"
    return ""


def _parallel_advice(stage: Stage, name: str) -> str:
    if stage.kind in ("Map", "ParallelMap"):
        function = stage.mapped.function if stage.mapped is not None else "..."
        return f"Call it for several elements at a time: .map({function}, num_parallel_calls=tf.data.AUTOTUNE)."
    if stage.kind.endswith("Interleave"):
        return "Read several files at a time: .interleave(..., num_parallel_calls=tf.data.AUTOTUNE, cycle_length=4)."
    return (
        f"Read several files at a time: tf.data.{stage.kind}Dataset(files, num_parallel_reads=tf.data.AUTOTUNE)"
        if stage.kind == "TFRecord"
        else f"Read several files at a time: Dataset.from_tensor_slices(files).interleave(tf.data.{stage.kind}Dataset, "
        "num_parallel_calls=tf.data.AUTOTUNE)"
    )
