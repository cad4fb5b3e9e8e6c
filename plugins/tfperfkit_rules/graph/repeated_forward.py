"""A forward pass that a step runs twice where one could serve (GRF001)."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.lines.graph.data import GraphFunction

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.graph.traced_step import WINDOW, definition, traced_functions

TITLES = {"GRF001": "Same forward pass runs twice in one step"}

MIN_REPEATED = Threshold(
    0.03,
    "share",
    "minimum share of the step in passes that could be one",
    Chosen("with REPEATED_SAVED_MIN a low share is saved for certain"),
)
REPEATED_SAVED_MIN = Threshold(
    0.6,
    "share",
    "minimum share saved of repeated forward passes",
    Chosen("operations ran next to others: 1 / OVERLAP_MANY"),
)
REPEATED_SAVED_MAX = Threshold(
    1.5,
    "share",
    "maximum share saved of repeated forward passes: with the runtime's gaps and what was kept for a gradient",
    Measured("a step with a share of 0.21 became 1.37 times as fast, 1.3 of it", TWO_BUSY_CORES, 1),
)
REPEATED_SHARE_MAX = Threshold(
    0.9,
    "share",
    "maximum share of a step that such a fix saves",
    Chosen("the pass that remains takes as long as one that goes"),
)


def repeated_forward(evidence: Evidence) -> Iterator[Finding]:
    """GRF001: calls of a model of which one could serve for all, in each compiled function."""
    for function, step_ms in traced_functions(evidence):
        yield from _judge_function(function, step_ms, evidence.unit)


def _judge_function(function: GraphFunction, step_ms: float, unit: Unit) -> Iterator[Finding]:
    saved_ms = sum(row.forward_ms * (row.calls - 1) / row.calls for row in function.repeated)
    share = saved_ms / step_ms
    if share < MIN_REPEATED.value:
        return
    saved = Part(REPEATED_SAVED_MIN.value * share, min(REPEATED_SAVED_MAX.value * share, REPEATED_SHARE_MAX.value))
    lines = dict.fromkeys(line for row in function.repeated for line in row.lines)
    callers = dict.fromkeys(line for row in function.repeated for line in row.callers)
    places: tuple[SourceSpan, ...] = (*sorted(lines, key=lambda place: (place.file, place.line)), *callers)
    words = " and ".join(dict.fromkeys(row.model for row in function.repeated))
    yield Finding(
        code="GRF001",
        remedy=ReplaceOps("one_pass"),
        title=f"Forward pass of {words} runs {_often(function)} in {unit.a}",
        share_of_step=share,
        gain=price(ReplaceOps("one_pass"), saved),
        where=tuple(dict.fromkeys(places)) or definition(function),
        evidence=(
            Measurement("time in repeated forward passes", saved_ms, "ms", WINDOW),
            Measurement(f"share of {unit.the}", share, "share", WINDOW),
            Measurement(
                "time in all of these forward passes", sum(row.forward_ms for row in function.repeated), "ms", WINDOW
            ),
        ),
        advice=_advice(words, all(row.same_input for row in function.repeated)),
    )


def _often(function: GraphFunction) -> str:
    """Say how often the forward pass runs although one pass would serve; a GAN's discriminator has two in each."""
    largest = max((row.calls for row in function.repeated if row.same_input), default=2)
    return "twice" if largest == 2 else f"{largest} times"


def _advice(words: str, same_input: bool) -> str:
    if same_input:
        return (
            f"Run {words} once, keep the result, and use it at all of these lines. The results are equal: the inputs "
            "are the same tensors, and nothing random or assigned comes between the calls."
        )
    return (
        f"Run {words} once under tf.GradientTape(persistent=True), and compute all gradients before the first update. "
        "Updates then see the same weights and random numbers: check that it trains as well."
    )
