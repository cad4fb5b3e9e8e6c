"""Keras' TimeDistributed, which puts a copy of a layer into the graph for each step of a sequence (OPS001)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from tfperfkit_probes.ops.model import Brief

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.graph.functions import counted, largest_first, of_run, places
from tfperfkit_rules.graph.unrolled_loops import UNROLLED_OPERATIONS
from tfperfkit_rules.measures.source_calls import list_files

_WRAPPER = "keras.layers.TimeDistributed"
#: Layers that do the same to each step by themselves, whatever axes stand before the last one.
_BY_THEMSELVES = frozenset(
    {"Dense", "LayerNormalization", "RMSNormalization", "UnitNormalization", "Embedding", "Activation", "ReLU"}
    | {"LeakyReLU", "ELU", "Softmax", "Dropout", "GaussianNoise", "GaussianDropout", "Rescaling"}
)


def copied_layers(evidence: Evidence) -> Iterator[Finding]:
    """OPS001, of all such layers together: their part of the traces and the first runs, as a share of the run."""
    functions = [each for each in largest_first(evidence) if each.marks.copied_layers]
    ran = [each for each in functions if each.first_execution_ms is not None]
    wrapped = [
        (SourceSpan(file, call.line), _name_wrapped(call))
        for file, syntax in list_files(evidence)
        for call in syntax.find_api_calls(_WRAPPER)
    ]
    if not ran or not wrapped:
        return
    largest = ran[0]
    layers = largest.marks.copied_layers
    operations = sum(each.operations for each in layers)
    if operations < UNROLLED_OPERATIONS.value:
        return
    copies = max(each.copies for each in layers)
    often = f"{copies:,}" if all(each.copies == copies for each in layers) else f"up to {copies:,}"
    which = "TimeDistributed layer" if len(layers) == 1 else f"{len(layers)} TimeDistributed layers"
    finding = Finding(
        code="OPS001",
        share_of_step=0.0,
        title=f"{which} unrolled {often} times into {operations:,} operations",
        where=places([*(place for place, _ in wrapped), *largest.callers]),
        evidence=(
            counted("operations of these layers", operations),
            counted("maximum number of copies of a layer", copies),
            counted("operations of the function", largest.operations),
            counted("tracing", largest.trace_ms, "ms"),
            counted("first execution", largest.first_execution_ms or 0.0, "ms"),
        ),
        advice=_advice(list(dict.fromkeys(inner for _, inner in wrapped))),
        detail="TimeDistributed calls the layer on each time step, then stacks the results. "
        "Tracing and first run grow with "
        "the number of time steps, gradients included.",
    )
    lost = sum(map(_estimate_lost_ms, ran))
    yield msgspec.structs.replace(
        of_run(evidence, finding, lost, "tracing and first run of these layers"), absorbs=("CMP004",)
    )


def _estimate_lost_ms(function: Brief) -> float:
    """Return what one copy of each layer would spare of a function's traces and its first run, by operations."""
    spared = sum(each.operations * (1 - 1 / each.copies) for each in function.marks.copied_layers)
    took = max(function.traces, 1) * function.trace_ms + (function.first_execution_ms or 0.0)
    return min(1.0, spared / max(function.operations, 1)) * took


def _name_wrapped(call: Call) -> str:
    """Name the layer that is wrapped, as Keras calls it; "" for one that is not Keras' own."""
    layer = call.get_argument("layer", 0)
    name = layer.api if layer is not None else ""
    return name.removesuffix("()").removeprefix("keras.layers.") if name.startswith("keras.layers.") else ""


def _advice(inner: list[str]) -> str:
    alone = [name for name in inner if name in _BY_THEMSELVES]
    others = [name for name in inner if name not in _BY_THEMSELVES]
    parts = []
    if alone:
        parts.append(
            f"Remove TimeDistributed around {_joined(alone)}: layers.{alone[0]}(...)(x) instead of "
            f"layers.TimeDistributed(layers.{alone[0]}(...))(x) gives the same result with the same weights."
        )
    if others:
        named = [name for name in others if name]
        around = f"Around {_joined(named)}" if named and len(named) == len(others) else "Around other layers and models"
        parts.append(
            f"{around}, make one batch of all time steps: keras.ops.reshape(x, (-1, ...)), the layer, then "
            "keras.ops.reshape(y, (-1, steps, ...))."
        )
    return " ".join(parts)


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
