"""INP017: a dataset is iterated only to count its elements.

The source shows that a line uses only the number of elements, and the probe ``input`` saw that line go through a
pipeline with stages that tf.data can count. Reported if counting takes at least 10 % of the run; the share is that of
the samples in which the line waited for elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData, Pipeline

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import Api, is_calling
from tfperfkit_rules.measures.source_calls import list_files

COUNTED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of the samples of such a line in which elements are prepared",
    Derived("the larger half"),
)
TITLES = {"INP017": "Dataset is iterated only to count its elements"}
#: Stages of which tf.data knows how many elements they give.
_KNOWN = frozenset(
    {
        *("TensorSlice", "Tensor", "Range", "Map", "ParallelMap", "MapAndBatch", "Batch", "ParallelBatch"),
        *("PaddedBatch", "Shuffle", "ShuffleAndRepeat", "Prefetch", "Repeat", "Take", "Skip", "Zip", "Options"),
    }
)
_MAKES_DATASETS = ("tensorflow.data.", "keras.utils.")
_ITERATES = Api(("tensorflow.python.data.ops.",))


def counted_elements(evidence: Evidence) -> Iterator[Finding]:
    """INP017: ``len(list(dataset))`` is a work of its own, and ``dataset.cardinality()`` would give the same number."""
    data, work = evidence.offer(InputData), evidence.work
    if data is None or work is None:
        return
    place = (work.where.file, work.where.line)
    pipeline = _find_known(data, place) if place in _find_counts(evidence) else None
    stacks = [(stack.frames[-1], times) for stack, times in evidence.samples.stacks.items() if stack.frames]
    seen = sum(times for frame, times in stacks if (frame.file, frame.line) == place)
    prepared = sum(
        times for frame, times in stacks if (frame.file, frame.line) == place and is_calling(evidence, frame, _ITERATES)
    )
    if pipeline is not None and prepared >= max(MIN, COUNTED_MIN.value * seen):
        yield _report(evidence, pipeline, place, prepared / sum(evidence.samples.stacks.values()), prepared)


def _report(evidence: Evidence, pipeline: Pipeline, place: Place, share: float, samples: int) -> Finding:
    stages = [SourceSpan(stage.file, stage.line, stage.function) for stage in pipeline.stages if stage.by == "user"]
    return Finding(
        code="INP017",
        title=TITLES["INP017"],
        share_of_step=share,
        gain=price(Rewrite(), Part.sampled(share, samples)),
        where=tuple(dict.fromkeys((SourceSpan(*place), *stages)))[: shared.MAX_PLACES.value],
        evidence=(
            Measurement(f"share of {evidence.unit.the} in preparing elements", share, "share", "samples"),
            Measurement("samples", float(samples), "count", "samples"),
        ),
        advice="Ask the dataset for its size, which prepares nothing: int(dataset.cardinality()).",
        detail="tf.data knows how many elements each stage gives, so cardinality() returns the same number.",
        absorbs=("INP001",),
        absorbs_here=("INP003", "INP004", "INP015", "EAG008", "STP003", "LIN001"),
        parts=("input",),
    )


def _find_counts(evidence: Evidence) -> set[Place]:
    """Return the lines that go through a dataset to its end and use nothing but how many elements it gives."""
    return {
        (file, call.line)
        for file, syntax in list_files(evidence)
        for call in syntax.calls
        if len(call.arguments) == 1 and _only_counts(call.name, call.arguments[0])
    }


def _only_counts(function: str, what: Expression) -> bool:
    """``len(list(dataset))``, ``len([x for x in dataset])``, ``sum(1 for x in dataset)``."""
    if isinstance(what, Call):
        listed = function == "builtins.len" and what.name in ("builtins.list", "builtins.tuple")
        return listed and len(what.arguments) == 1 and _is_dataset(what.arguments[0])
    if what.element is None or len(what.generators) != 1:
        return False
    target, over = what.generators[0]
    # The whole text, so that there is no condition in it.
    loop = f"{what.element.text} for {target.text} in {over.text}"
    summed = function == "builtins.sum" and what.element.is_constant(1) and what.text == f"({loop})"
    listed = function == "builtins.len" and what.element.kind in ("name", "constant") and what.text == f"[{loop}]"
    return (summed or listed) and _is_dataset(over)


def _is_dataset(expression: Expression) -> bool:
    """Return whether nothing but tf.data stands between the source of the elements and the count."""
    return expression.api.startswith(_MAKES_DATASETS)


def _find_known(data: InputData, place: Place) -> Pipeline | None:
    """Return the pipeline that a line goes through, if tf.data knows how many elements it gives and keeps none of them.

    The elements that a cache keeps during the count would have to be prepared later.
    """
    for pipeline in data.pipelines:
        lines = {(pipeline.file, pipeline.line), *((each.file, each.line) for each in pipeline.shared)}
        kinds = {stage.kind for stage in pipeline.stages if stage.nested is None and not stage.added}
        if place in lines and kinds and kinds <= _KNOWN:
            return pipeline
    return None
