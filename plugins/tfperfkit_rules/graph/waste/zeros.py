"""GRF021: a product with a constant matrix of which nearly all numbers are zero."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Wasted

from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import Part, count, finding, found, often


def zeros(evidence: Evidence) -> Iterator[Finding]:
    """GRF021, by what its numbers were when the function was traced or called."""
    for part in found(evidence, "zeros"):
        figures = part.waste.figures
        filled = figures["filled"]
        if figures.get("diagonal"):
            yield _diagonal(evidence, part)
            continue
        sparse = bool(figures.get("made"))
        identity = "Of the identity (tf.eye) the product with x is a lookup, tf.gather(x, ids). Another one: keep"
        keep = identity if figures.get("looked_up") else "Keep"
        yield finding(
            evidence,
            part,
            codes.NEARLY_ALL_ZEROS,
            f"A {'sparse matrix is made dense and' if sparse else 'constant matrix is'} multiplied, of whose "
            f"{often(figures['numbers'])} numbers {100 * filled:.2g} % are not zero",
            "Leave it sparse: tf.sparse.sparse_dense_matmul(sparse, x) in place of tf.sparse.to_dense(sparse) @ x. Of "
            "indices and values tf.math.unsorted_segment_sum(tf.gather(x, columns) * values[:, None], rows, n) does "
            "the same."
            if sparse
            else f"{keep} it sparse: sparse = tf.sparse.from_dense(matrix) once, before the function (better: a "
            "tf.SparseTensor of its indices and values, so that the dense one is never made), and "
            "tf.sparse.sparse_dense_matmul(sparse, x) in place of matrix @ x. Where it holds the links between nodes "
            "tf.math.unsorted_segment_sum(tf.gather(x, sources) * weights[:, None], targets, n) does the same.",
            "A dense product multiplies the zeros too, forward and backward. A sparse one takes some 70 times as "
            "long for a number, so it pays from about 1 % on; the order of sums differs by rounding.",
            count("numbers of the matrix", figures["numbers"]),
            Measurement("of them not zero" if sparse else "of them not zero, by a sample", filled, "share", "run"),
        )


def _diagonal(evidence: Evidence, part: Part[Wasted]) -> Finding:
    figures = part.waste.figures
    return finding(
        evidence,
        part,
        codes.NEARLY_ALL_ZEROS,
        f"A matrix of {often(figures['numbers'])} numbers is multiplied that has some on its diagonal alone",
        "Scale instead: d[:, None] * x in place of tf.linalg.diag(d) @ x, and x * d in place of x @ tf.linalg.diag(d).",
        "The product multiplies and adds the zeros too, forward and backward. The results are the same.",
        count("numbers of the matrix", figures["numbers"]),
        Measurement("of them not zero", figures["filled"], "share", "run"),
    )
