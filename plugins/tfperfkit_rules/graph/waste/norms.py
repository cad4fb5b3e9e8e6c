"""GRF029: clipping gradients by a norm takes a good part of a step."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.on_purpose import weighed
from tfperfkit_rules.graph.waste.pricing import count, finding, found
from tfperfkit_rules.measures.source_calls import given, is_not_false

_BY_KERAS = ("global_clipnorm", "clipnorm")


def norms(evidence: Evidence) -> Iterator[Finding]:
    """GRF029, by gradients that are scaled by a number which comes from a sum over their own squares."""
    unit = evidence.unit
    by_keras = [each for word in _BY_KERAS for each in given(evidence, word, is_not_false)]
    for part in found(evidence, "norm"):
        gradients, together = round(part.waste.figures["gradients"]), round(part.waste.figures["together"])
        norm = "their common norm" if together > 1 else "the norm of each"
        made = finding(
            evidence,
            part,
            codes.CLIPPED_NORM,
            f"Clipping {gradients} gradients by {norm} takes {100 * part.share:.0f} % of {unit.a}",
            "See whether it ever clips: print the norm once in a hundred steps (tf.linalg.global_norm(gradients)). "
            "Where it stays below the limit, take the clipping out: that is what the factor is for. Where it doesn't, "
            "clip only what needs it (a recurrent layer's gradients), or keep it and let each variable's update be one "
            "operation, which saves about as much (see this finding's page).",
            "All gradients are read and squared for the norm, then read and written once more to be scaled, also where "
            "the norm is below the limit: they are multiplied by 1 then.",
            count("gradients that are clipped", gradients),
        )
        yield weighed(made, part, *by_keras)
