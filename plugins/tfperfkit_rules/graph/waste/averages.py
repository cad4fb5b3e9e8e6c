"""GRF030: averages of all weights are brought up to date in every step."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.on_purpose import weighed
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often
from tfperfkit_rules.measures.source_calls import given, is_true


def averages(evidence: Evidence) -> Iterator[Finding]:
    """GRF030, by variables that get a mixture of themselves and of another variable."""
    unit = evidence.unit
    by_keras = given(evidence, "use_ema", is_true)
    for part in found(evidence, "average"):
        figures = part.waste.figures
        each = round(figures["each"])
        first = (
            "Leave use_ema out, and keep the averages yourself in a compiled function that"
            if by_keras
            else "Put it into a compiled function of its own that"
        )
        made = finding(
            evidence,
            part,
            codes.WEIGHT_AVERAGE,
            f"Averages of {often(figures['numbers'])} weights are brought up to date in {unit.every}",
            f"{first} is called every {each} steps, with momentum ** {each} in the momentum's place: "
            f"average.assign(momentum * average + (1 - momentum) * weight). An average that looks "
            "back over a hundred steps and more hardly changes."
            + (" Keras' ema_overwrite_frequency saves nothing of it." if by_keras else ""),
            f"All weights and all averages are read, and all averages written, in {unit.each}.",
            count("variables that are averaged", figures["variables"]),
            count("numbers in them", figures["numbers"]),
        )
        yield weighed(made, part, *by_keras)
