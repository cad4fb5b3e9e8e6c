"""GRF017: several networks run on all rows, and each row takes the result of one."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found


def picked(evidence: Evidence) -> Iterator[Finding]:
    """GRF017, by masks of which each row has one, and by lookups in stacked results."""
    for part in found(evidence, "picked"):
        branches, taken = round(part.waste.figures["branches"]), round(part.waste.figures.get("taken", 1))
        yield finding(
            evidence,
            part,
            codes.PICKED_BRANCH,
            f"{branches} branches run on all rows, and each row takes the result of {'one' if taken == 1 else taken}",
            "Give each branch its own rows: parts = tf.dynamic_partition(x, which, n), run branch i on parts[i], and "
            "put the results back with tf.dynamic_stitch(tf.dynamic_partition(tf.range(tf.shape(x)[0]), which, n), "
            "results). Where the branches are one layer each of the same shape, one product for each row with its own "
            "weights (tf.gather of the stacked weights) does it too, if the weights are small.",
            f"{branches - taken} of {branches} results of each row are thrown away; their gradients are zeros, and are "
            "computed all the same. A branch that draws random numbers or normalises over the batch sees other rows "
            "then.",
            count("branches", branches),
        )
