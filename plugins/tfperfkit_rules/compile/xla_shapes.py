"""CMP001, where XLA compiles for new shapes at the beginning of the run, so few of the steady steps show it.

The trace knows how many programs XLA made of a function. The length of the steps that trace nothing shows when: each
compilation takes many times an ordinary step. The gain is of this run, as a longer one compiles each shape once too.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tfperfkit_probes.input.model import InputData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import FunctionCost, XlaCompilations
from tfperfkit.pricing import Part, price
from tfperfkit.remedy import KeepTrace
from tfperfkit.rule import Evidence
from tfperfkit_rules.compile import xla_place
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.xla_shapes import compiled_by_xla, find_shapes_compiled, is_traced

FIRST_LEFT = Threshold(
    0.3,
    "share",
    "maximum share of the compilations for new shapes that remains",
    Chosen("padding to a few lengths leaves a few, and without XLA the first runs take their time too"),
)


def compiles_each_shape(evidence: Evidence) -> Iterator[Finding]:
    """Find the function of the steps or of a work that XLA has compiled for several shapes; silent if their trace shows
    compilations, which another rule reports."""
    data, wall_ms = evidence.offer(XlaCompilations), evidence.run.wall_s * MS_PER_S
    functions = compiled_by_xla(evidence)
    if data is None or (data.count and is_traced(evidence)) or not functions or wall_ms <= 0:
        return
    function = functions[0]
    found = find_shapes_compiled(evidence, function)
    if found is None:
        return
    lost, once = sum(found.excess_ms.values()), statistics.median(found.excess_ms.values())
    share = min(lost / wall_ms, shared.MAX_RUN_SHARE.value)
    if share < MEDIUM:
        return
    window = evidence.offered_by(XlaCompilations)
    yield Finding(
        code="CMP001",
        remedy=KeepTrace("shape"),
        basis="run",
        share_of_step=share,
        title=f"jit_compile=True recompiles {name_function(function)} for each new input shape",
        # Without XLA the first program goes as well.
        gain=price(KeepTrace("shape"), Part((1 - FIRST_LEFT.value) * share, min((lost + once) / wall_ms, 1.0))),
        where=(*reversed(xla_place.jit_lines(evidence, function)), *_find_padding(evidence)),
        evidence=(
            Measurement("programs that XLA compiled, one for each shape", found.programs, "count", window),
            Measurement("steps longer by a compilation", len(found.excess_ms), "count", "run"),
            Measurement("extra time of these steps", lost / MS_PER_S, "s", "run"),
            Measurement("ordinary step", found.ordinary_ms, "ms", "baseline"),
        ),
        advice=advise(function),
        detail="XLA compiles for each concrete shape, even if the signature leaves a size open (None). Evaluation "
        "compiles each shape once more.",
        absorbs=("SYN001", "CMP004"),
    )


def advise(function: FunctionCost) -> str:
    """Say how to have few shapes, or none that matters."""
    return (
        f"Pad the inputs of {name_function(function)} to one length, dataset.padded_batch(n, padded_shapes=...), or to "
        "a few: dataset.bucket_by_sequence_length(..., pad_to_bucket_boundary=True). Or: if only the last batch "
        "differs, skip it: batch(n, drop_remainder=True). Or: remove jit_compile=True."
    )


def name_function(function: FunctionCost) -> str:
    """Return the name of the user's own function; Keras' own functions have none that users know."""
    return function.function if function.owner != "keras" else "the model's step"


def _find_padding(evidence: Evidence) -> tuple[SourceSpan, ...]:
    """Find the stages of the training pipeline that pad each batch to a length of its own."""
    data = evidence.offer(InputData)
    return tuple(
        SourceSpan(stage.file, stage.line, stage.function)
        for pipeline in (data.pipelines if data is not None else ())
        for stage in pipeline.stages
        if pipeline.in_training and stage.kind == "PaddedBatch" and stage.file
    )
