"""INP015: Python goes through a dataset element by element, and passing each one takes longer than making it.

Reported if a loop that trains nothing waits at least 10 % of its time for the next element, and the pipeline's stages
take at most half of that wait. Elements have one known shape and at most 16 KiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfperfkit_probes.input.bound import PARALLEL
from tfperfkit_probes.input.model import InputData, Pipeline, Stage

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import feeding, places
from tfperfkit_rules.measures.input_bounds import PER_STEP, SMALL_BYTES
from tfperfkit_rules.measures.source_text import find_loop

ROWS = Threshold(
    256,
    "elements",
    "number of elements to hand to Python at a time instead of one",
    Chosen("leaves a 256th of the calls; with SMALL_BYTES each, 4 MB"),
)
ROWS_LEFT_MAX = Threshold(
    0.1,
    "share",
    "maximum share that remains if Python goes through the rows of batches instead of single elements",
    Derived("a 256th of the calls, and 0.1 to 1 us for the row of an array, of 50 us and more"),
)

TITLES = {"INP015": "Dataset elements are passed to Python one by one"}
_BATCHED = ("Batch", "PaddedBatch", "ParallelBatch", "MapAndBatch", "RaggedBatch", "Window", "GroupByWindow", "Tensor")
_NAME, _SHAPE, _OPEN = re.compile(r"[\w.]+"), re.compile(r"\[[^]]*\]"), re.compile(r"\?|\[…\]")
_ROWS = int(ROWS.value)


def one_by_one(evidence: Evidence) -> Iterator[Finding]:
    """Report a loop that trains nothing, over a pipeline that gives single elements of one shape."""
    work, data, waited = evidence.work, evidence.offer(InputData), evidence.part("input")
    if work is None or work.kind != "loop" or data is None or not evidence.step_ms or evidence.samples.count < MIN:
        return
    iterations, share = work.iterations or 0, evidence.share("input")
    pipelines = [item for item in feeding(evidence, data) if not item.way and not item.in_graph]
    if share < gain.MEDIUM or len(pipelines) != 1 or iterations < 2 * _ROWS:
        return
    pipeline = pipelines[0]
    own_ms = _own_ms(pipeline) if _single(pipeline) else None
    if pipeline.iterators >= PER_STEP.value * iterations or own_ms is None:
        return
    made = own_ms / waited
    if made > shared.MOSTLY.value:
        return  # the pipeline's own work takes it
    low, high = gain.interval(share, evidence.samples.count)
    high += evidence.share("other", "host_sync")  # freeing the tensors of each element, and reading them
    gained = price(Rewrite(), Part(low * (1 - made), high), Left(0.0, ROWS_LEFT_MAX.value))
    line = SourceSpan(pipeline.file, pipeline.line, pipeline.function)
    yield Finding(
        code="INP015",
        title=f"Reading dataset elements one by one: {100 * share:.0f} % of {evidence.unit.a}",
        share_of_step=share,
        gain=gained,
        where=places(evidence, line),
        evidence=(
            Measurement("time waiting for the next element", waited, "ms", "breakdown"),
            Measurement("time in the pipeline's stages per element", own_ms, "ms", pipeline.measured or "run"),
            Measurement("elements passed to Python", float(iterations), "count", "run"),
        ),
        advice=_advice(evidence, pipeline, work.where),
        detail=(
            "For each element Python calls TensorFlow, which wakes the pipeline and makes and frees tensors. A batch "
            "needs all of that once."
        ),
        absorbs=("INP001", "INP004"),
        absorbs_here=("LIN001", "STP003", "SYN001"),
        parts=("input", "other", "host_sync"),
    )


def _single(pipeline: Pipeline) -> bool:
    """Tell whether a pipeline gives single elements, all of one shape, so that they can be batched."""
    for stage in pipeline.stages:
        large = (stage.bytes_per_element or 0) > SMALL_BYTES.value
        if stage.is_python or large or _OPEN.search(stage.element):
            return False
        if stage.kind == "Unbatch":
            return True
        if stage.kind in _BATCHED:
            return False
    return True


def _own_ms(pipeline: Pipeline) -> float | None:
    """Own time of all stages for an element; None where one that computes was not measured."""
    if any(stage.self_ms_per_output is None and not stage.added and _computes(stage) for stage in pipeline.stages):
        return None
    return sum(stage.self_ms_per_output or 0.0 for stage in pipeline.stages if not stage.added)


def _computes(stage: Stage) -> bool:
    return stage.mapped is not None or stage.kind.startswith(PARALLEL) or stage.nested is not None


def _advice(evidence: Evidence, pipeline: Pipeline, where: SourceSpan) -> str:
    loop = find_loop(evidence, where.file, where.line)
    over = loop.over.removesuffix(".as_numpy_iterator()") if loop is not None else ""
    name = over if _NAME.fullmatch(over) else "dataset"
    parts = _SHAPE.sub("", next((stage.element for stage in pipeline.stages if stage.element), "")).count(",") + 1
    rows = "for row in zip(*rows)" if parts > 1 else "for row in rows"
    return (
        f"Take NumPy arrays of {_ROWS} elements: for rows in {name}.batch({_ROWS}).as_numpy_iterator():, and loop over "
        f"their rows: {rows}:. Or: compute on all rows of a batch at once, with NumPy or TensorFlow, which gains more."
    )
