"""GRF018: most of what a model computes is for the padding of its sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit_probes.input.model import InputData, KerasInput, Pipeline, Stage

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.pipelines import Padding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.graph.traced_step import WINDOW
from tfperfkit_rules.measures.growth import TRY
from tfperfkit_rules.measures.xla_shapes import compiling_share

TITLES = {"GRF018": "Sequences are mostly padding (pad_sequences, padded_batch)"}

_PADDED = Measured(
    "reviews of 32 words in the mean, padded to 256, through a bidirectional LSTM, and batches of like length: 224 and "
    "110 ms a step, 15.7 and 5 s of processor time in all",
    TWO_BUSY_CORES,
    2,
)
PADDING_SAVED_MIN = Threshold(
    0.6,
    "share",
    "minimum share saved of the work that grows with the sequences, relative to the padding removed",
    _PADDED,
)
PADDING_SAVED_MAX = Threshold(
    0.95,
    "share",
    "maximum share saved of the work that grows with the sequences, relative to the padding removed",
    _PADDED,
)
PADDING_MIN = Threshold(
    0.1,
    "share",
    "minimum share of the step that batches of similar length save, for a finding",
    Chosen("a tenth; it asks for another pipeline"),
)
PADDING_LEFT_MIN = Threshold(
    1.05,
    "number",
    "minimum ratio of the length of batches of similar length to the mean length",
    Derived(
        "of 4,000 lengths sorted into batches of 32: 1.01 evenly from 10 to 60, 1.03 with a long tail (log-normal)"
    ),
)
PADDING_LEFT_MAX = Threshold(
    1.8,
    "number",
    "maximum ratio of the length of batches of similar length to the mean length",
    Derived("the same lengths shuffled within four buckets by quartiles: 1.17 and 1.81"),
)
#: A sequence of whole numbers is one of tokens where a table is looked up by them.
_LOOKUP = ("ResourceGather", "GatherV2")


def padding(evidence: Evidence) -> Iterator[Finding]:
    """The finding, for the arrays that ``fit`` is given, or for the stage of tf.data that pads batches."""
    step, data = evidence.offer(ComputedStep), evidence.offer(InputData)
    if evidence.work is not None or step is None or data is None or not evidence.step_ms or not step.ms:
        return
    # Updates of weights don't grow with the sequences; nearly all else does, the gaps between operations too.
    grows = 1 - sum(item.ms for item in step.operations if item.stage == "update") / step.ms
    computed = max(evidence.share("graph") - compiling_share(evidence), 0.0) * grows
    given = (_read_input(row) for row in data.keras if row.way == "fit" and not row.validation)
    sliced = (_sliced(pipeline) for pipeline in data.pipelines if pipeline.in_training)
    found = next((each for each in (*given, *sliced) if each is not None), None)
    if found is not None and _looks_up(step):
        padded = found.padding
        share = computed * (1 - padded.mean / padded.width)
        saved = computed * (1 - padded.alike / padded.width)
        gained = price(ReplaceOps("less_padding"), padding_saved(saved))
        if gained.surely >= PADDING_MIN.value:
            yield _make_finding(found, share, gained, evidence.unit)
        return
    stages = (stage for pipeline in data.pipelines if pipeline.in_training for stage in pipeline.stages)
    stage = next((stage for stage in stages if stage.filled is not None), None)
    if stage is not None and stage.filled is not None:
        yield from _padded_batches(stage, stage.filled, computed, evidence.unit)


def padding_saved(share: float) -> Part:
    """Return what goes of a step if a ``share`` of it computes for padding."""
    return Part(PADDING_SAVED_MIN.value * share, PADDING_SAVED_MAX.value * share)


class _Sequences(NamedTuple):
    """Padded sequences, the place where they enter a batch, and the batch's size."""

    padding: Padding
    place: SourceSpan
    words: str
    batch_size: int | None


def _read_input(row: KerasInput) -> _Sequences | None:
    place = SourceSpan(row.file, row.line, row.function)
    return _Sequences(row.padding, place, "given to fit", row.batch_size) if row.padding is not None else None


def _sliced(pipeline: Pipeline) -> _Sequences | None:
    """Those of ``from_tensor_slices``, where nothing that is mapped over them may cut or change them."""
    source = next((stage for stage in pipeline.stages if stage.padding is not None), None)
    if source is None or source.padding is None or any(stage.mapped is not None for stage in pipeline.stages):
        return None
    sizes = (stage.parameters.get("batch_size") for stage in pipeline.stages)
    size = next((each for each in sizes if isinstance(each, int)), None)
    place = SourceSpan(source.file, source.line, source.function)
    return _Sequences(source.padding, place, "that the dataset is made of", size)


def _padded_batches(stage: Stage, filled: float, computed: float, unit: Unit) -> Iterator[Finding]:
    """Find padding by the bytes that went into the stage and those that came out."""
    left = Left(PADDING_LEFT_MIN.value * filled, min(PADDING_LEFT_MAX.value * filled, 1.0))
    gained = price(ReplaceOps("less_padding"), padding_saved(computed), left)
    if gained.surely < PADDING_MIN.value:
        return
    share = computed * (1 - filled)
    yield Finding(
        code="GRF018",
        remedy=ReplaceOps("less_padding"),
        title=f"{100 * (1 - filled):.0f} % of the batches of padded_batch is padding",
        share_of_step=share,
        gain=gained,
        where=(SourceSpan(stage.file, stage.line, stage.function),) if stage.file else (),
        evidence=(
            Measurement("bytes before padding as a share of bytes with padding", filled, "share", "run"),
            Measurement(f"share of {unit.the} that computes for padding", share, "share", WINDOW),
        ),
        advice=(
            "Replace padded_batch with dataset.bucket_by_sequence_length(lambda x, y: tf.shape(x)[0], "
            "bucket_boundaries=[...], bucket_batch_sizes=[...]), with the quartiles of the lengths as boundaries. "
            "Or, if a few long sequences make all others long: cut them, x[:longest]."
        ),
        detail=(
            "A layer computes every position of the longest sequence in a batch; a mask changes the results, not the "
            "work. Each new batch length may cause a trace: pad_to_bucket_boundary=True keeps them few."
        ),
        parts=("graph",),
    )


def _looks_up(step: ComputedStep) -> bool:
    return any(item.type in _LOOKUP and item.stage == "forward" and item.layer for item in step.operations)


def _make_finding(found: _Sequences, share: float, gained: gain.Range, unit: Unit) -> Finding:
    padded = found.padding
    empty = 1 - padded.mean / padded.width
    short = ""
    if padded.longest < padded.width:  # of a sample: a longer one may be among the others
        seen = f"none of the {padded.rows:,} sequences examined is longer"
        short = f"Set pad_sequences(..., maxlen={padded.longest}): {seen}. Or: "
    edges = ", ".join(str(length) for length in dict.fromkeys(padded.quartiles))
    return Finding(
        code="GRF018",
        remedy=ReplaceOps("less_padding"),
        title=f"{100 * empty:.0f} % of the sequences {found.words} is padding",
        share_of_step=share,
        gain=gained,
        where=(found.place,),
        evidence=(
            Measurement("padded length", float(padded.width), "count", "run"),
            Measurement("mean length without padding", padded.mean, "count", "run"),
            Measurement("longest sequence", float(padded.longest), "count", "run"),
            Measurement("mean length in batches of similar lengths", padded.alike, "count", "run"),
            Measurement("sequences examined", float(padded.rows), "count", "run"),
            Measurement(f"share of {unit.the} that computes for padding", share, "share", WINDOW),
        ),
        advice=(
            f"{short}Batch the unpadded sequences by length: dataset.bucket_by_sequence_length(lambda x, y: "
            "tf.shape(x)[0], "
            f"bucket_boundaries=[{edges}], bucket_batch_sizes=[{_sizes(found)}]) instead of batch, with "
            "keras.Input((None,)) as the model's input."
        ),
        detail=(
            "A layer computes every position; a mask (mask_zero=True) changes the results, not the work. By default, "
            "pad_sequences pads before a sequence and buckets pad after it, so recurrent layers need the mask. Each "
            "new batch length is traced once: pad_to_bucket_boundary=True keeps them few."
        ),
        parts=("graph",),
    )


def _sizes(found: _Sequences) -> str:
    """One batch size for each bucket, the last behind the last boundary."""
    edges = dict.fromkeys(found.padding.quartiles)
    return ", ".join([str(found.batch_size or TRY.value)] * (len(edges) + 1))
