"""INP010, INP012: datasets and iterators that are rebuilt in the loop, and arrays that are copied into graphs or
memory.

Iterators and datasets are counted where they are made. The share is that of the samples at the lines that make and read
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData, Pipeline, Stage

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import MemoryLimit
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN, Frame
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.skipped_again import Again, find_again
from tfperfkit_rules.measures.feed import feeding, place, places
from tfperfkit_rules.measures.input_bounds import PER_STEP
from tfperfkit_rules.measures.source_text import find_function

MIN_MADE = Threshold(
    4,
    "count",
    "minimum number of datasets of one line, and of steps, that make a loop",
    Chosen("training, validation and test are fewer"),
)
ITERATOR_STAYS = Threshold(
    0.1,
    "share",
    "share that remains of the time at the line that makes an iterator: fetching one batch",
    Chosen("FETCH_MS, where making an iterator takes a millisecond and more"),
)
IN_GRAPH_BYTES = Threshold(
    10_000_000,
    "bytes",
    "minimum size of a dataset that is a constant of a graph, copied with each trace",
    Chosen("0.07 s and more a trace by CONSTANT_MB_MS; 2 GB is the limit of a serialised graph"),
)
COPIED_BYTES = Threshold(
    500_000_000,
    "bytes",
    "minimum size of arrays copied into TensorFlow's memory",
    Chosen("a quarter of 2 GB of memory"),
)
COPIED_SHARE = Threshold(
    0.1, "share", "minimum share of the memory limit in such copies", Chosen("the arrays are in memory twice")
)

FLOOR = gain.LOW
#: Modules whose functions make datasets and iterators.
_BUILDERS = ("tensorflow.python.data.", "keras.src.utils.", "keras.src.trainers.data_adapters.")
#: A distribution strategy makes a small pipeline for each device in each epoch, whatever the script does.
_OF_DEVICES = "PerDevice"
TITLES = {
    "INP010": "Dataset arrays are copied into the graph or memory",
    "INP012": "Dataset or iterator is rebuilt in the loop",
}
_ARRAY = (
    "Materialise the data once, before the loop: rows = list(dataset.as_numpy_iterator()), then take rows[i]. Or: pick "
    "the i-th array or file name, and process that one alone, if the data does not fit into memory. tf.data has no "
    "random access: skip(i) produces and discards i elements."
)
_NO_ACCESS = (
    "tf.data has no random access: the stages before it make each element that is then discarded. So the work grows "
    "with the square of the number of parts."
)


def made_in_loop(evidence: Evidence) -> Iterator[Finding]:
    """INP012: an iterator for each step, or a data set made again and again."""
    data = evidence.offer(InputData)
    if data is None or evidence.step_ms is None or evidence.samples.count < MIN:
        return
    if evidence.work is None and data.steps < MIN_MADE.value:
        return
    fed = data.pipelines if evidence.work is None else feeding(evidence, data)
    for pipeline in data.pipelines:
        if pipeline.way or pipeline.in_graph or pipeline.role == "validation":
            continue
        if any(_OF_DEVICES in stage.cls for stage in pipeline.stages):
            continue
        if evidence.work is not None and pipeline.datasets_made >= MIN_MADE.value and not _by_number(pipeline):
            found = _in_each_call(evidence, pipeline)
        elif pipeline not in fed:
            found = None
        elif _iterators(evidence, pipeline) >= PER_STEP.value:
            found = _each_step(evidence, evidence.step_ms, pipeline)
        elif pipeline.datasets_made >= MIN_MADE.value and pipeline.in_training is not False:
            found = _judge_rebuilding(evidence, evidence.step_ms, pipeline)
        else:
            found = None
        if found is not None:
            yield found


def _iterators(evidence: Evidence, pipeline: Pipeline) -> float:
    """Iterators for each step, or for each iteration of a work as far as those were counted."""
    if evidence.work is None:
        return pipeline.iterators_per_step or 0.0
    return pipeline.iterators / evidence.work.iterations if evidence.work.iterations else 0.0


def _each_step(evidence: Evidence, step_ms: float, pipeline: Pipeline) -> Finding | None:
    unit = evidence.unit
    line = SourceSpan(pipeline.file, pipeline.line, pipeline.function)
    sampled = evidence.samples.share((line.file, line.line))
    low, high = gain.interval(sampled, evidence.samples.count)
    # Freeing the old iterator, with its buffer, falls between the lines ("other").
    waited = min(evidence.share("input", "other"), 1.0)
    share, window = max((sampled, "samples"), (waited, "breakdown"))
    if share < FLOOR:
        return None
    stays = Left(0.0, ITERATOR_STAYS.value)
    shuffle = next((stage for stage in pipeline.stages if stage.kind == "Shuffle"), None)
    rows = [
        Measurement(f"iterators made {unit.per}", _iterators(evidence, pipeline), "count", "run"),
        Measurement(f"share of {unit.the} in making and filling iterators", share, "share", window),
        Measurement(f"time making and filling iterators {unit.per}", step_ms * share, "ms", window),
    ]
    detail = "Making an iterator starts its threads and its buffers again, and each begins with the first elements."
    if shuffle is not None and isinstance(shuffle.parameters.get("buffer_size"), int):
        size = shuffle.parameters["buffer_size"]
        rows.append(Measurement("elements in the shuffle buffer", float(size or 0), "count", "run"))
        detail += " The shuffle buffer is filled each time to take one batch from it."
    numbered, again = _by_number(pipeline), find_again(pipeline)
    return Finding(
        code="INP012",
        remedy=Hoist("iterator"),
        title=f"Dataset iterator is rebuilt for {unit.every} to take one element by its number"
        if numbered
        else _name(again, unit.every, "Dataset iterator is"),
        share_of_step=share,
        gain=price(Hoist("iterator"), Part(min(low, share), max(high, share)), stays),
        where=places(evidence, line, place(shuffle or _end(pipeline), pipeline)),
        evidence=tuple(rows),
        advice=_ARRAY
        if numbered
        else again.advice
        if again is not None
        else (
            f"Make the iterator once, before the loop: batches = iter(dataset.repeat()), then batch = next(batches) in "
            f"{unit.the}. Or: loop over the dataset: for batch in dataset.repeat().take(steps)."
        ),
        detail=detail,
        absorbs=("INP001", "INP004", "INP009", "RET012"),
        absorbs_here=("LIN001",),
    )


def _by_number(pipeline: Pipeline) -> bool:
    """Whether a new dataset skips what comes before each time: ``dataset.skip(i).take(1)``."""
    own = [stage.kind for stage in pipeline.stages if not stage.added and stage.kind != "Prefetch"]
    return pipeline.datasets_made >= MIN_MADE.value and (own[:1] == ["Skip"] or own[:2] == ["Take", "Skip"])


def _in_each_call(evidence: Evidence, pipeline: Pipeline) -> Finding | None:
    """Outside of training: all that passes at the lines that build a pipeline and read it.

    The reading time stays if the pipeline can be kept; nothing stays if its function computes on all rows at once.
    """
    unit, lines = evidence.unit, _list_lines(pipeline)
    span = _steady(evidence)
    samples = evidence.log.inside([span]) if span is not None else []
    at: Counter[tuple[str, int]] = Counter()
    reading = 0
    for _, stack in samples:
        place = next(((frame.file, frame.line) for frame in stack.frames if (frame.file, frame.line) in lines), None)
        if place is not None:
            at[place] += 1
            reading += stack.activity == "input"
    if len(samples) < MIN or at.total() < FLOOR * len(samples):
        return None
    share = at.total() / len(samples)
    again = find_again(pipeline)
    left_out = again.left_out or 0.0 if again is not None else 0.0
    built = share - (1 - left_out) * reading / len(samples)
    low, high = gain.interval(built, len(samples))[0], gain.interval(share, len(samples))[1]
    times = max(pipeline.datasets_made, pipeline.iterators)
    where = find_function(evidence, *at.most_common(1)[0][0])
    called = f"each call of {where.name}" if where is not None else unit.every
    mapped = [stage.mapped.function.rpartition(".")[2] for stage in pipeline.stages if stage.mapped is not None]
    names = " and ".join(dict.fromkeys(name for name in mapped if name.isidentifier())) or "its function"
    return Finding(
        code="INP012",
        remedy=Hoist("pipeline"),
        title=_name(again, called, "Dataset and iterator are"),
        share_of_step=share,
        gain=price(Hoist("pipeline"), Part(low, high)),
        where=places(evidence, *(SourceSpan(*place, where.name if where else "") for place, _ in at.most_common(3))),
        evidence=(
            Measurement("pipelines built, at least", float(times), "count", "run"),
            Measurement(f"share of {unit.loop} at these lines", share, "share", "samples"),
            Measurement(f"share of {unit.loop} in reading elements", reading / len(samples), "share", "samples"),
            Measurement("samples", float(len(samples)), "count", "samples"),
            *_left_out(again),
        ),
        advice=again.advice
        if again is not None
        else (
            f"Compute on all rows at once, without tf.data: do what {names} does with one row in a @tf.function for "
            "whole tensors (tf.boolean_mask instead of filter), or with NumPy. Or: build the pipeline once, before the "
            "loop, and iterate over it again, if the data is the same each time."
        ),
        detail=_NO_ACCESS
        if again is not None
        else (
            "Each time TensorFlow traces the functions of map and filter, optimises the pipeline, and starts and ends "
            "its threads. That takes as long for ten rows as for a million."
        ),
        absorbs=("INP001", "INP004", "RET012"),
        absorbs_here=("LIN001", "RET014"),
        parts=("input", "tracing", "eager_ops", "dispatch", "python", "other"),
    )


def _name(again: Again | None, often: str, what: str) -> str:
    return f"{what} rebuilt for {often}" if again is None else f"{again.name} reads from the start for {often}"


def _left_out(again: Again | None) -> tuple[Measurement, ...]:
    if again is None or again.left_out is None:
        return ()
    return (Measurement(f"share of the elements that {again.name} discards", again.left_out, "share", "run"),)


def _list_lines(pipeline: Pipeline) -> set[tuple[str, int]]:
    """List the lines that make a pipeline's stages and its iterator."""
    own = {(stage.file, stage.line) for stage in pipeline.stages if stage.by == "user" and stage.file}
    return own | {(pipeline.file, pipeline.line)}


def _judge_rebuilding(evidence: Evidence, step_ms: float, pipeline: Pipeline) -> Finding | None:
    """The lines that build it cost: map traces its function each time."""
    own = _list_lines(pipeline)
    span = _steady(evidence)
    if span is None:
        return None
    samples = evidence.log.inside([span])
    if len(samples) < MIN:
        return None
    building = [
        stack
        for _, stack in samples
        if stack.activity != "input"
        and any((frame.file, frame.line) in own and _builds(frame) for frame in stack.frames[-1:])
        and stack.library in ("tensorflow", "keras")
    ]
    share = len(building) / len(samples)
    if share < FLOOR:
        return None
    counts: dict[tuple[str, int], int] = {}
    for stack in building:
        key = (stack.frames[-1].file, stack.frames[-1].line)
        counts[key] = counts.get(key, 0) + 1
    file, line = max(counts, key=lambda key: counts[key])
    return Finding(
        code="INP012",
        remedy=Hoist("iterator"),
        share_of_step=share,
        title=f"Dataset is rebuilt in the loop, {pipeline.datasets_made} times",
        gain=price(Hoist("iterator"), Part.sampled(share, len(samples))),
        where=places(evidence, SourceSpan(pipeline.file, pipeline.line, pipeline.function), SourceSpan(file, line)),
        evidence=(
            Measurement("datasets built", pipeline.datasets_made, "count", "run"),
            Measurement("share of the time after the warm-up in building datasets", share, "share", "samples"),
        ),
        advice="Build the dataset once, before the loop, and iterate over it in each epoch: for batch in dataset. Or, "
        "if its data changes: take each batch from the arrays by its indices, without tf.data.",
        detail=(
            "Each time map traces its function again, and the old pipeline's threads and buffers are destroyed."
            if any(stage.mapped is not None for stage in pipeline.stages)
            else "Each time its data is copied or prepared again, and the old threads and buffers are destroyed."
        ),
        absorbs=("INP001", "RET012"),
        absorbs_here=("LIN001",),
    )


def _builds(frame: Frame) -> bool:
    """Whether a frame called what makes a dataset or an iterator: its line may also train."""
    return frame.calls is None or any(call.startswith(_BUILDERS) for call in frame.calls)


def _steady(evidence: Evidence) -> tuple[int, int] | None:
    clean = evidence.steps.clean
    return (clean[0].begin_ns, clean[-1].end_ns) if clean else None


def _end(pipeline: Pipeline) -> Stage:
    return next((stage for stage in pipeline.stages if not stage.added), pipeline.stages[0])


def constant_data(evidence: Evidence) -> Iterator[Finding]:
    """INP010: whole data sets as constants of a graph, or copied into TensorFlow's memory."""
    data = evidence.offer(InputData)
    if data is None:
        return
    limit = evidence.offer(MemoryLimit)
    memory = limit.limit_bytes if limit is not None else 0
    for pipeline in data.pipelines:
        stage = max(pipeline.stages, key=lambda item: item.memory_bytes, default=None)
        if stage is None:
            continue
        size = stage.memory_bytes
        where = places(evidence, place(stage, pipeline))
        rows = (Measurement("size of the dataset's arrays", size, "bytes", "run"),)
        baked = bool(pipeline.in_graph) and stage.in_graph and stage.nested is None
        if baked and size >= IN_GRAPH_BYTES.value:
            yield Finding(
                code="INP010",
                remedy=Hoist("array"),
                severity="medium",
                basis="risk",
                share_of_step=0.0,
                title=f"Dataset arrays are copied into the graph of {pipeline.in_graph}",
                where=where,
                evidence=rows,
                advice=(f"Make the dataset outside of {pipeline.in_graph}, and pass it in. Or: pass its iterator."),
                detail="Each trace copies the arrays, and a graph over 2 GB can't be saved.",
                absorbs=("OPS002",),
            )
        elif not stage.in_graph and size >= COPIED_BYTES.value and memory and size >= COPIED_SHARE.value * memory:
            yield Finding(
                code="INP010",
                remedy=Hoist("array"),
                basis="risk",
                share_of_step=0.0,
                title="Dataset arrays are copied into TensorFlow's memory by from_tensor_slices",
                where=where,
                evidence=(*rows, Measurement("share of the memory limit in the copy", size / memory, "share", "run")),
                advice="Make a dataset of indices, batch it, and pick the rows in a map: tf.numpy_function(lambda i: "
                "array[i], [ids], array.dtype), then tf.ensure_shape. Or: read TFRecord files.",
                detail="The NumPy array stays in memory next to the copy as long as a name refers to it.",
            )
