"""The size of the batches in which ``fit`` validates, beside that of the batches in which it trains."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Place
from tfperfkit.rule import Evidence

SMALL_VALIDATION = Threshold(
    8,
    "times",
    "minimum ratio of the training's batch to the validation's, for a small validation batch",
    Chosen("the forward pass alone takes a third of a training step, so a batch half as large is no cause"),
)

_BATCHES = ("Batch", "ParallelBatch", "PaddedBatch", "RaggedBatch", "MapAndBatch")


class Small(NamedTuple):
    """Examples in a batch of each; ``number``: validation batches after an epoch, 0 where that is not known. ``at``:
    where the batches are made; None where Keras makes them of arrays."""

    size: int
    trained: int
    number: int
    at: SourceSpan | None


def small_validation(evidence: Evidence, fit: Place) -> Small | None:
    """None where validation batches are not much smaller than those of the training, or where one is not known."""
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
    """Examples in a batch at the pipeline's end, and where that is made; 0 where no stage says it."""
    for stage in pipeline.stages:
        size = stage.parameters.get("batch_size")
        if stage.kind in _BATCHES and isinstance(size, int) and size > 0:
            return size, SourceSpan(stage.file, stage.line, stage.function) if stage.by == "user" else None
    return 0, None
