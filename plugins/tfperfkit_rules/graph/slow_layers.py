"""A layer that computes far more slowly than others of its kind (GRF003)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from tfperfkit_probes.lines.graph.data import GraphFunction

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.graph.traced_step import WINDOW, traced_functions

TITLES = {"GRF003": "Keras layer runs far slower than similar layers"}

MIN_LAYER = Threshold(
    0.15,
    "share",
    "minimum share of the step in a layer that is slower than others of its kind",
    Chosen("three moderate shares: nothing measured says that the layer can be faster"),
)
SLOWER = Threshold(
    6.0,
    "number",
    "minimum ratio of a slow layer's time to the median of its kind",
    Chosen("twice the factor by which size alone makes operations differ, SMALL_OPERATION"),
)
NEIGHBOURS = Threshold(2, "count", "minimum number of other layers of the kind", Chosen("the fewest with a middle"))
MIN_GFLOP = Threshold(
    0.01,
    "GFLOP",
    "minimum arithmetic of a layer per step: with less it is slow by nature",
    Chosen("0.1 ms at 100 GFLOP/s: DIVIDED_MS"),
)


def slow_layers(evidence: Evidence) -> Iterator[Finding]:
    """GRF003, in each compiled function."""
    for function, step_ms in traced_functions(evidence):
        yield from _judge_function(function, step_ms, evidence.unit)


def _judge_function(function: GraphFunction, step_ms: float, unit: Unit) -> Iterator[Finding]:
    rated = [row for row in function.layers if row.gflop_per_s and (row.gflop or 0.0) >= MIN_GFLOP.value]
    for row in rated:
        others = [item.gflop_per_s or 0.0 for item in rated if item.kind == row.kind and item is not row]
        if len(others) < NEIGHBOURS.value or not row.gflop_per_s:
            continue
        usual = statistics.median(others)
        share = row.share * (function.ms_per_step or 0.0) / step_ms
        if share < MIN_LAYER.value or row.gflop_per_s * SLOWER.value > usual:
            continue
        place = next(_lines_of(function, row.layer), None)
        span = SourceSpan(*place) if place else SourceSpan(function.file, function.line, function.function)
        yield Finding(
            code="GRF003",
            title=f"{row.layer} runs {usual / row.gflop_per_s:.0f}x slower than other {row.kind} layers",
            severity="info",
            share_of_step=share,
            where=(span,),
            evidence=(
                Measurement("GFLOP/s of the layer", row.gflop_per_s, "number", WINDOW),
                Measurement(f"GFLOP/s of the other {row.kind} layers (median)", usual, "number", WINDOW),
                Measurement(f"share of {unit.the}", share, "share", WINDOW),
            ),
            advice=(
                "Check the layer's dtype and shapes: float64, few channels, dilation_rate, groups, or sizes that are "
                "no multiple of 8 keep a layer from using the processor well."
            ),
        )


def _lines_of(function: GraphFunction, layer: str) -> Iterator[tuple[str, int, str]]:
    """The lines on which a layer is called, from the outermost."""
    wanted = layer.rpartition("/")[2]
    for top in function.lines:
        pending = [(top, (top.file, top.line, top.function))]
        while pending:
            item, place = pending.pop()
            if item.kind == "layer" and item.name == wanted:
                yield place
            for child in item.children:
                pending.append((child, (child.file, child.line, child.function) if child.kind == "line" else place))
