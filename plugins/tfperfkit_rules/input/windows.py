"""INP007: ``window().flat_map(lambda w: w.batch(n))`` makes a dataset for each window of a series. A map that takes the
only element of ``w.batch(n)`` is the same, and so is an interleave.

Reported if the stages that work on single windows set the pace, and a window takes hardly more than the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import ChangeStage
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.sequential_stages import MAP_LEFT_MAX, MAP_MIN_BATCH, MAP_OPERATION_US
from tfperfkit_rules.input.untimed import gone_through, without_gain
from tfperfkit_rules.measures.feed import LOST_SHARE, Feed, feed, name_stage, place, places, waiting
from tfperfkit_rules.measures.input_bounds import SMALL_BYTES

WINDOW_US = Threshold(
    300.0,
    "us",
    "maximum time of a window over a series in window().flat_map(batch) and the maps after it that is mostly calls",
    Measured(
        "windows of 25 numbers 48 us on two busy cores, of 21 numbers 44 us; 180 us at a load of 6", TWO_BUSY_CORES, 3
    ),
)

_IN_MEMORY = ("Range", "Tensor", "TensorSlice")
#: Stages of the function that unpacks windows, besides ``batch``. TensorFlow repeats the windows' own stage there.
_BESIDE_BATCH = {"Zip", "Map", "Window"}
#: Parameters of a window, as without arguments and recording.
_WINDOW = {"size": None, "shift": 1, "stride": 1}
_UNPACK = ("FlatMap", "Interleave", "ParallelInterleave", "Map", "ParallelMap")


@also_validated
def windows_one_by_one(evidence: Evidence) -> Iterator[Finding]:
    """The finding, where the stages that work on single windows set the pace, and the windows are small."""
    item = feed(evidence, believed=False)
    if item is None or item.bound is None:
        return
    # In memory nothing but the windows has anything to do, whatever the stages' own times say.
    if item.keeps_up and (item.share < LOST_SHARE.value or item.pipeline.stages[-1].kind not in _IN_MEMORY):
        return
    found = _windowed(item.pipeline)
    if found is None:
        return
    flat, window, below = found
    size = _batch(item.pipeline, flat)
    if item.bound not in below or size < MAP_MIN_BATCH.value:
        return
    timed = _timed(item, below, size)
    if timed is None:
        return
    part, times = timed
    worked = item.section_ms * part
    rest = item.section_ms - worked
    left = item.relieved(rest, rest + MAP_LEFT_MAX.value * worked)
    made = _make_finding(item.pipeline, flat, window, size, item.share)
    yield msgspec.structs.replace(
        made,
        gain=price(made.remedy, left=left),
        where=places(evidence, place(flat, item.pipeline), place(window, item.pipeline)),
        evidence=(*waiting(item, evidence.unit), *made.evidence, *times),
    )


def windows_in_a_call(evidence: Evidence) -> Iterator[Finding]:
    """The same where one compiled call goes through them and no trace timed its stages."""
    pipeline = gone_through(evidence)
    found = _windowed(pipeline) if pipeline is not None else None
    if pipeline is None or found is None or pipeline.stages[-1].kind not in _IN_MEMORY:
        return
    flat, window, _ = found
    made = _make_finding(pipeline, flat, window, _batch(pipeline, flat), 0.0)
    yield without_gain(evidence, made, pipeline, map(pipeline.stages.index, (flat, window)))


def _make_finding(pipeline: Pipeline, flat: Stage, window: Stage, size: int, share: float) -> Finding:
    """Without its price."""
    return Finding(
        code="INP007",
        remedy=ChangeStage("batch_first"),
        title=f"window().{name_stage(flat)} handles one small window at a time"
        if flat.kind != "FlatMap"
        else "window().flat_map() handles one small window at a time",
        share_of_step=share,
        evidence=(Measurement("windows per batch", size, "count", "run"),),
        advice=_advise(pipeline, flat, window, size),
        detail=(
            f"window() makes a dataset for each window, and {name_stage(flat).partition('(')[0]} an iterator over it. "
            "That takes far longer than copying the numbers. Later maps then get a leading batch dimension."
        ),
        absorbs=("INP001", "INP003", "INP004", "INP006", "BAT001"),
    )


def _advise(pipeline: Pipeline, flat: Stage, window: Stage, batch: int) -> str:
    """Say how to make a ``batch`` of the same windows at once. Recordings of older versions have no ``size``, ``shift``
    and ``stride`` of a window: then both latter count as 1."""
    inner = [item for item in pipeline.stages if item.nested is not None and pipeline.stages[item.nested] is flat]
    length = next((item.parameters["batch_size"] for item in inner if "batch_size" in item.parameters), None)
    size, shift, stride = (window.parameters.get(name, known) for name, known in _WINDOW.items())
    mapped = any(item.kind == "Map" for item in inner)
    if size == shift == length is not None and stride == 1 and not mapped:
        rest = ", drop_remainder=True" if window.parameters.get("drop_remainder") else ""
        unpacked = name_stage(flat).partition("(")[0]
        return f"Replace window() and {unpacked} by .batch({length}{rest}): the windows do not overlap."
    begins = "len(series) - size + 1" if stride == 1 else f"len(series) - {stride or 'stride'} * (size - 1)"
    begins = begins if shift == 1 else f"0, {begins}, {shift or 'shift'}"
    rows = "tf.range(size, dtype=tf.int64)" if stride == 1 else f"{stride or 'stride'} * tf.range(size, dtype=tf.int64)"
    shuffled = ".shuffle(n)" if any(item.kind.startswith("Shuffle") for item in pipeline.stages) else ""
    return (
        f"Gather a whole batch of windows at once: starts = tf.data.Dataset.range({begins}){shuffled}.batch({batch}), "
        f"then starts.map(lambda start: tf.gather(series, start[:, None] + {rows}))"
        + (f", with size {length}." if isinstance(length, int) else ".")
    )


def _timed(item: Feed, below: list[Stage], size: int) -> tuple[float, tuple[Measurement, ...]] | None:
    """Return the single windows' part of the slowest section, and its measurements; None if they do work beyond the
    calls. If no stage was timed, they cause the whole wait if the series is in memory: then nothing else in the
    pipeline has anything to do.
    """
    if not item.pipeline.measured:
        return (1.0, ()) if item.pipeline.stages[-1].kind in _IN_MEMORY else None
    singles = [stage for stage in below if stage.self_ms_per_output is not None]
    worked_ms = sum(stage.self_ms_per_output or 0.0 for stage in singles)
    operations = sum(stage.ops for stage in singles)
    each_us = worked_ms * 1000 / size
    if each_us > WINDOW_US.value + MAP_OPERATION_US.value * operations:
        return None
    return min(sum(item.part(stage) for stage in singles), 1.0), (
        Measurement("time per window", each_us / 1000, "ms", "run"),
        Measurement("self time of stages on single windows per batch", worked_ms, "ms", "run"),
    )


def _windowed(pipeline: Pipeline) -> tuple[Stage, Stage, list[Stage]] | None:
    """(the flat_map or the map that unpacks windows, the window below it, the stages up to the batch that work on
    single windows). None without them, or where something in them is more than its call: Python, random numbers other
    than a shuffle's."""
    stages = pipeline.stages
    windows = [index for index, stage in enumerate(stages) if stage.kind == "Window" and stage.nested is None]
    flats = [
        index
        for index, stage in enumerate(stages)
        if stage.kind in _UNPACK and not stage.added and stage.nested is None
    ]
    flats = [index for index in flats if stages[index].kind == "FlatMap" or _is_directly_after(stages, index, windows)]
    if not windows or not flats or flats[-1] > windows[0]:
        return None
    flat = flats[-1]
    inner = [stage for stage in stages if stage.nested == flat]
    if {stage.kind for stage in inner} - _BESIDE_BATCH != {"Batch"}:
        return None
    if any(_is_large(stage) for stage in inner if stage.kind == "Batch"):
        return None
    first = next((i for i in reversed(range(flat)) if stages[i].kind in ("Batch", "PaddedBatch")), None)
    if first is None:
        return None
    below = list(stages[first + 1 :])
    odd = any(stage.is_python or (stage.stateful_or_random and stage.kind != "Shuffle") for stage in below)
    return None if odd else (stages[flat], stages[windows[0]], below)


def _is_directly_after(stages: Sequence[Stage], index: int, windows: Sequence[int]) -> bool:
    """Whether the elements of a stage are windows: datasets."""
    return next((n for n in range(index + 1, len(stages)) if stages[n].nested is None), -1) in windows


def _is_large(stage: Stage) -> bool:
    return stage.bytes_per_element is None or stage.bytes_per_element > SMALL_BYTES.value


def _batch(pipeline: Pipeline, flat: Stage) -> int:
    for stage in reversed(pipeline.stages[: pipeline.stages.index(flat)]):
        size = stage.parameters.get("batch_size")
        if stage.kind in ("Batch", "PaddedBatch") and isinstance(size, int):
            return size
    return 0
