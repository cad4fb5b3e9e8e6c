"""GRF011: a product of three matrices, in an order that makes it far costlier than another one."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Wasted

from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import Part, count, finding, found, often


def products(evidence: Evidence) -> Iterator[Finding]:
    """GRF011, where nothing but the second product, and sums, needs the first one's result."""
    for part in found(evidence, "order"):
        figures = part.waste.figures
        less = figures["flops"] / max(figures["needed"], 1.0)
        if figures.get("diagonal"):
            yield _diagonal(evidence, part)
            continue
        yield finding(
            evidence,
            part,
            codes.PRODUCT_ORDER,
            f"Two products in this order take {often(less)} times the arithmetic of the other order",
            "Multiply the other two first: A @ (B @ v) in place of (A @ B) @ v, q @ (tf.transpose(k) @ v) in place of "
            "(q @ tf.transpose(k)) @ v. A sum of the first product's rows moves inside too: "
            "tf.reduce_sum(A @ B, -1) is A @ tf.reduce_sum(B, -1). Results differ by rounding only.",
            f"The first product makes {often(figures['made'])} numbers, which only the second one, and sums, use; in "
            f"the other order {often(figures['between'])} stand between. Gradients follow the same order.",
            count("FLOPs of the two, forward", figures["flops"]),
            count("FLOPs in the other order", figures["needed"]),
            remedy=ReplaceOps("order"),
        )


def _diagonal(evidence: Evidence, part: Part[Wasted]) -> Finding:
    figures = part.waste.figures
    return finding(
        evidence,
        part,
        codes.PRODUCT_ORDER,
        f"A product makes {often(figures['made'])} numbers, of which the diagonal is used",
        "Multiply each row by the column of its own number: tf.reduce_sum(a * tf.transpose(b), -1) in place of "
        "tf.linalg.diag_part(a @ b), its sum in place of tf.linalg.trace(a @ b); of x @ A @ tf.transpose(x) it is "
        "tf.reduce_sum((x @ A) * x, -1).",
        "Nothing but its diagonal goes anywhere; the rest is computed and written, forward and backward. Results "
        "differ by rounding only.",
        count("FLOPs of the product, forward", figures["flops"]),
        count("FLOPs of its diagonal", figures["needed"]),
        remedy=ReplaceOps("order"),
    )
