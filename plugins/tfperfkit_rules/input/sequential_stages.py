"""INP003, INP007: a stage works on one element at a time, or calls a function for each small example.

Reported if the step waits at least 5 % of its time, and this stage has the most self time in the slowest section of the
pipeline, by TensorFlow's own figures. On n CPU cores a stage gets at most n times faster. A call for each example is
reported if the function does little more than being called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

import msgspec
from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, costs, price
from tfperfkit.pricing.machines import MEASURED_ON, TWO_BUSY_CORES
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.untimed import gone_through, multiplies, without_gain
from tfperfkit_rules.measures.feed import Feed, feed, name_stage, own_time, place, places, waiting
from tfperfkit_rules.measures.input_bounds import MIN_PART, SMALL_BYTES
from tfperfkit_rules.measures.source_text import find_function

MAP_CALL_US = Threshold(
    60.0,
    "us",
    "maximum time of an example in a mapped function that is mostly the call",
    Measured(
        "22 to 67 us, median 38, whatever the number of operations; 18 to 38 by hand. Up to twice that, calling is "
        "the larger half",
        MEASURED_ON,
        15,
        "map_call",
    ),
)
MAP_OPERATION_US = Threshold(
    1000 * costs.GRAPH_OP_MIN_MS.value,
    "us",
    "additional time for each operation of the function",
    Measured("see GRAPH_OP_MIN_MS", TWO_BUSY_CORES, 2, "graph_op"),
)
PARSE_US = Threshold(
    400.0,
    "us",
    "maximum time of a record in a map that parses single strings and would take far less for a batch",
    Measured(
        "47 to 320 us at a load of 6: tf.train.Example of 4 to 120 features, lines of 5 and 30 numbers, raw bytes; "
        "parsed in batches of 256, 0.02 to 0.23 of it remained (0.69 once, next to other work)",
        TWO_BUSY_CORES,
        22,
    ),
)
MAP_MIN_BATCH = Threshold(
    8,
    "examples",
    "minimum batch for which calling a function once gains enough",
    Chosen("with 8 an eighth of the calls remain"),
)
MAP_LEFT_MAX = Threshold(
    0.3,
    "share",
    "maximum share of such a stage that remains if it works on batches",
    Measured("0 to 0.24, median 0.04; more for a function that does more", MEASURED_ON, 20, "map_batched"),
)
MAP_LEFT_LIKELY = Threshold(
    0.04,
    "share",
    "median share of such a stage that remains",
    Measured("see MAP_LEFT_MAX", MEASURED_ON, 20, "map_batched"),
)

TITLES = {
    "INP003": "tf.data stage prepares one element at a time",
    "INP007": "Dataset.map handles one small example at a time",
}
#: Stages that work on one element after the other though they could work on several.
_MAPS = ("Map", "ParallelMap")
_READS = ("TFRecord", "TextLine", "FixedLengthRecord")
LEFT = (0.0, MAP_LEFT_MAX.value)


@also_validated
def per_example(evidence: Evidence) -> Iterator[Finding]:
    """INP007: a cheap function is called for each example where it could be called for a batch."""
    item = feed(evidence)
    stage = item.bound if item is not None else None
    if item is None or stage is None or not is_cheap(evidence, item, stage):
        return
    worked = item.section_ms * item.part(stage)
    rest = item.section_ms - worked
    left = item.relieved(rest + LEFT[0] * worked, rest + LEFT[1] * worked, rest + MAP_LEFT_LIKELY.value * worked)
    size = _batch(item.pipeline, stage)
    each_us = item.own_ms_max(stage) * 1000 / size
    made = _per_example(evidence, item.pipeline, stage, size)
    each = "time per example" if stage.self_ms_per_output is not None else "time per example, at most"
    yield msgspec.structs.replace(
        made,
        share_of_step=item.share,
        gain=price(made.remedy, left=left),
        where=places(evidence, place(stage, item.pipeline), stage.mapped),
        evidence=(
            *waiting(item, evidence.unit),
            Measurement(each, each_us / 1000, "ms", "run"),
            *made.evidence,
            *own_time(stage),
        ),
    )


def parsed_in_a_call(evidence: Evidence) -> Iterator[Finding]:
    """Yield the same of records that one compiled call goes through, where nothing else is done with them and no trace
    timed it."""
    pipeline = gone_through(evidence)
    mapped = [stage for stage in pipeline.stages if stage.kind in _MAPS] if pipeline is not None else []
    if pipeline is None or len(mapped) != 1 or mapped[0].is_python or mapped[0].stateful_or_random:
        return
    if multiplies(evidence, pipeline):
        return
    size = _batch(pipeline, mapped[0])
    small = (mapped[0].bytes_per_element or 0) <= SMALL_BYTES.value
    if size < MAP_MIN_BATCH.value or not small or parser_of(evidence, pipeline, mapped[0]) is None:
        return
    made = _per_example(evidence, pipeline, mapped[0], size)
    where = (mapped[0].mapped,) if mapped[0].mapped is not None else ()
    made = msgspec.structs.replace(made, where=where, detail="TensorFlow calls the function once for each example.")
    yield without_gain(evidence, made, pipeline, [pipeline.stages.index(mapped[0])])


def _per_example(evidence: Evidence, pipeline: Pipeline, stage: Stage, size: int) -> Finding:
    """Without its price."""
    name = stage.mapped.function if stage.mapped is not None else "the function"
    parser = parser_of(evidence, pipeline, stage)
    return Finding(
        code="INP007",
        remedy=ChangeStage("batch_first"),
        title=(
            f"map({name}) parses one record at a time"
            if parser is not None
            else f"map({name}) handles one small example at a time"
        ),
        share_of_step=0.0,
        evidence=(
            Measurement("operations in the mapped function", stage.ops, "count", "run"),
            Measurement("examples per batch", size, "count", "run"),
        ),
        advice=(
            f"Batch first, then map: .batch({size}).map({name}, num_parallel_calls=tf.data.AUTOTUNE). {name} then gets "
            + (parser.batched(size) if parser is not None else "arrays with a leading batch dimension.")
        ),
        detail="Nearly all of the time is the overhead of calling the function, once for each example.",
        absorbs=("INP001", "INP003", "INP004"),
    )


def is_cheap(evidence: Evidence, item: Feed, stage: Stage) -> bool:
    """Whether a mapped function does so little, or what is done for a batch so much faster, that calling it for each
    example is most of its time."""
    pipeline = item.pipeline
    if stage.kind not in _MAPS or stage.is_python or stage.stateful_or_random or not stage.ops:
        return False
    index = pipeline.stages.index(stage)
    size = _batch(pipeline, stage)
    if size < MAP_MIN_BATCH.value:
        return False
    if any(below.kind in ("Batch", "PaddedBatch") for below in pipeline.stages[index + 1 :]):
        return False
    each_us = item.own_ms_max(stage) * 1000 / size
    if parser_of(evidence, pipeline, stage) is not None:
        return (stage.bytes_per_element or 0) <= SMALL_BYTES.value and each_us <= PARSE_US.value
    sizes = [near.bytes_per_element for near in (stage, *pipeline.stages[index + 1 : index + 2])]
    if stage.self_ms_per_output is None or any(size is None or size > SMALL_BYTES.value for size in sizes):
        return False  # shapes differ from example to example, or the work is in the bytes
    return each_us <= MAP_CALL_US.value + MAP_OPERATION_US.value * stage.ops


_MULTIPLY = ("FlatMap", "Interleave", "ParallelInterleave")


def _batch(pipeline: Pipeline, stage: Stage) -> int:
    """Return the size of the batch that is made after this stage; 0 when there is none, or when a stage between them
    makes several elements of one."""
    after = [item for item in pipeline.stages[: pipeline.stages.index(stage)] if item.nested is None]
    for index, item in enumerate(after):
        size = item.parameters.get("batch_size")
        if any(between.kind in _MULTIPLY and not between.added for between in after[index + 1 :]):
            continue
        if item.kind in ("Batch", "PaddedBatch") and isinstance(size, int):
            return size
    return 0


@also_validated
def sequential(evidence: Evidence) -> Iterator[Finding]:
    """INP003: the stage that sets the pace works on one element after the other."""
    unit = evidence.unit
    item = feed(evidence)
    stage = item.bound if item is not None else None
    if item is None or stage is None or item.cpus < 2 or stage.is_python:
        return
    around = _interleave(item.pipeline, stage)
    kind = _sequential_kind(around or stage)
    if not kind or item.part(stage) < MIN_PART.value:
        return
    worked = item.section_ms * item.part(stage)
    left_ms = item.section_ms - worked + worked / item.cpus
    # The work does not get less. At best the step leaves processors to it; at worst the step uses all of them itself.
    left = item.rerun(max(item.other_ms, left_ms), item.other_ms + left_ms)
    if stage is item.described:  # by its description alone: at least it is what a stage must be to be reported
        left_ms = item.section_ms * (1 - MIN_PART.value * (1 - 1 / item.cpus))
        left = Left(left.low, item.rerun(item.step_ms, item.other_ms + left_ms).low)
    maps = (stage, *_joined(item.pipeline, stage))
    name = " and ".join(name_stage(one) for one in reversed(maps))
    yield Finding(
        code="INP003",
        remedy=ChangeStage("parallel"),
        title=f"{name} {kind}" if len(maps) == 1 else f"{name} (fused) {kind.replace('prepares', 'prepare')}",
        share_of_step=item.share,
        gain=price(ChangeStage("parallel"), left=left),
        where=places(
            evidence,
            *(place(one, item.pipeline) for one in ((around,) if around is not None else ())),
            *(place(one, item.pipeline) for one in maps),
            *(one.mapped for one in maps),
        ),
        evidence=(
            *waiting(item, evidence.unit),
            *own_time(stage),
            Measurement("CPU cores", item.cpus, "count", "run"),
            *_part(item, stage),
        ),
        advice=_parallel_advice((around,) if around is not None else maps, name),
        detail=(
            f"The stage gets at most {item.cpus} times faster on {item.cpus} CPU cores, if {unit.the}'s own graph "
            "leaves them free."
        ),
        absorbs=("INP001", "INP004"),
    )


def _interleave(pipeline: Pipeline, stage: Stage) -> Stage | None:
    """Return the interleave that opens the files which a stage reads: how many are read at a time is said there."""
    if stage.kind not in _READS or stage.nested is None or stage.nested >= len(pipeline.stages):
        return None
    around = pipeline.stages[stage.nested]
    return around if around.kind.endswith("Interleave") else None


def _part(item: Feed, stage: Stage) -> list[Measurement]:
    if stage is item.described:
        return [Measurement("operations in the mapped function", stage.ops, "count", "run")]
    return [
        Measurement(
            "share of this stage in the slowest pipeline section",
            item.part(stage),
            "share",
            "tfprof" if item.lost else "run",
        )
    ]


def _sequential_kind(stage: Stage) -> str:
    calls = stage.parameters.get("num_parallel_calls")
    if stage.kind == "Map" or (stage.kind == "ParallelMap" and calls == 1):
        return "prepares one element at a time"
    if stage.kind == "Interleave" or (stage.kind == "ParallelInterleave" and calls == 1):
        return "reads one file at a time"
    if stage.kind in _READS and stage.parameters.get("num_parallel_reads") in (None, 1):
        return "reads one file at a time"
    return ""


def _joined(pipeline: Pipeline, stage: Stage) -> tuple[Stage, ...]:
    """Return the maps directly below a map that TensorFlow has made one with it (its pass ``map_fusion``): its model
    knows the upper one alone, with the time of all, so nothing tells which of them takes it."""
    if stage.kind != "Map" or pipeline.measured != "model" or stage.self_ms_per_output is None:
        return ()
    below = pipeline.stages[pipeline.stages.index(stage) + 1 :]
    found = list(takewhile(lambda item: item.kind == "Map" and item.elements is None and not item.nested, below))
    measured = below[len(found) :]
    return tuple(found) if measured and measured[0].elements is not None else ()


def _parallel_advice(maps: Sequence[Stage], name: str) -> str:
    stage = maps[0]
    if stage.kind in ("Map", "ParallelMap"):
        each = [item.mapped.function if item.mapped is not None else "..." for item in reversed(maps)]
        calls = " and ".join(f".map({function}, num_parallel_calls=tf.data.AUTOTUNE)" for function in each)
        return f"Run {'it' if len(maps) == 1 else 'them'} in parallel: {calls}."
    if stage.kind.endswith("Interleave"):
        return "Read several files at a time: .interleave(..., num_parallel_calls=tf.data.AUTOTUNE, cycle_length=4)."
    return (
        f"Read several files at a time: tf.data.{stage.kind}Dataset(files, num_parallel_reads=tf.data.AUTOTUNE)"
        if stage.kind == "TFRecord"
        else f"Read several files at a time: Dataset.from_tensor_slices(files).interleave(tf.data.{stage.kind}Dataset, "
        "num_parallel_calls=tf.data.AUTOTUNE)"
    )


class Parser(NamedTuple):
    """Functions of TensorFlow: ``single`` parses one record, ``batches`` a batch of records; they may be the same one.
    ``result``: what to know of the result for a batch."""

    single: str
    batches: str
    result: str = "later stages get a leading batch dimension"

    def batched(self, size: int) -> str:
        """Say as the end of a sentence what a function that calls it gets for a batch."""
        instead = f": {self.batches} instead of {self.single}" if self.single != self.batches else ""
        return f"{size} records at a time{instead}; {self.result}."


_PARSERS = (
    Parser("tf.io.parse_single_example", "tf.io.parse_example"),
    Parser("tf.io.parse_single_sequence_example", "tf.io.parse_sequence_example"),
    Parser("tf.io.decode_csv", "tf.io.decode_csv"),
    Parser("tf.io.decode_raw", "tf.io.decode_raw"),
    Parser("tf.strings.split", "tf.strings.split", "its result is ragged then: .to_tensor()"),
)
#: Functions that decode one string at a time.
_SINGLE = ("decode_image", "decode_jpeg", "decode_png", "decode_gif", "decode_bmp", "decode_webp", "decode_wav")


def parser_of(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> Parser | None:
    """Find the parser that a map calls on single strings. None if it takes something else, or also decodes images or
    audio, which are decoded one by one."""
    index = pipeline.stages.index(stage)
    source = next((item for item in pipeline.stages[index + 1 :] if item.element), None)
    if source is None or source.element != "string[]" or stage.mapped is None:
        return None
    syntax = evidence.syntax(stage.mapped.file)
    function = find_function(evidence, stage.mapped.file, stage.mapped.line)
    first, last = (function.line, function.last) if function is not None else (stage.mapped.line, stage.mapped.line)
    if syntax is None:
        return None
    names = [call.name for call in syntax.calls if first <= call.line <= last]
    if any(name.rpartition(".")[2] in _SINGLE for name in names):
        return None
    return next((item for item in _PARSERS if item.single.replace("tf.", "tensorflow.", 1) in names), None)
