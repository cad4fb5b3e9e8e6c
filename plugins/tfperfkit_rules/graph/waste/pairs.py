"""GRF012: distances of all pairs are computed by way of all differences."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.nodes import find_nodes
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def pairs(evidence: Evidence) -> Iterator[Finding]:
    """GRF012, where the differences are only squared and summed."""
    for part in found(evidence, "pairs"):
        figures = part.waste.figures
        yield finding(
            evidence,
            part,
            codes.ALL_DIFFERENCES,
            f"{often(figures['differences'])} differences are made for {often(figures['distances'])} distances",
            _advice(*_points(evidence, part.waste.where)),
            "Each difference is written to memory, read, squared, written and read again. Of points that lie close "
            "together far from zero the expanded square loses digits: subtract their mean from both first.",
            count("differences", figures["differences"]),
            count("distances", figures["distances"]),
        )


def _advice(a: str, b: str) -> str:
    product = f"2 * tf.matmul({a}, {b}, transpose_b=True)"
    return (
        "Expand the square: a product of matrices has the same sums. "
        f"tf.reduce_sum({a} * {a}, -1)[:, None] - {product} + tf.reduce_sum({b} * {b}, -1)[None, :], with "
        "tf.maximum(..., 0) around it, and tf.sqrt around that where the distance itself is used. For the nearest "
        f"only, leave out what is the same for all: tf.reduce_sum({b} * {b}, -1) - {product} has its minimum at the "
        "same place."
    )


def _points(evidence: Evidence, where: SourceSpan | None) -> tuple[str, str]:
    """The two sets of points as the line names them, that of the rows first."""
    syntax = evidence.syntax(where.file) if where is not None else None
    if syntax is None or where is None:
        return "a", "b"
    for node in (inner for outer in syntax.at_line(where.line) for inner in find_nodes(outer, ast.BinOp)):
        if isinstance(node.op, ast.Sub):
            sides = {_find_new_axis(side): side for side in (node.left, node.right) if isinstance(side, ast.Subscript)}
            if {0, 1} <= set(sides):
                return ast.unparse(sides[1].value), ast.unparse(sides[0].value)
    return "a", "b"


def _find_new_axis(side: ast.Subscript) -> int | None:
    """The position of the one new axis: 1 of ``x[:, None, :]``, 0 of ``y[None]``; None without one, or with several."""
    given = side.slice.elts if isinstance(side.slice, ast.Tuple) else [side.slice]
    new = [at for at, item in enumerate(given) if ast.unparse(item) in ("None", "tf.newaxis", "np.newaxis")]
    return new[0] if len(new) == 1 else None
