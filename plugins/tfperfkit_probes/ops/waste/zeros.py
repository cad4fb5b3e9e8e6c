"""Products with a constant matrix of which nearly all numbers are zero."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers
from tfperfkit_probes.ops.waste.view import View

KIND = "zeros"
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})


def zeros(view: View) -> Iterator[Wasted]:
    """By captured tensors and constants whose numbers were looked at when the function was traced."""
    for node in view.forward:
        if node.type not in _PRODUCTS or len(node.inputs) != 2:
            continue
        for number in (0, 1):
            matrix = view.source(node, number)
            share = view.zeros.get(matrix.name) if matrix is not None else None
            if matrix is None or share is None:
                continue
            # Of a sample without a single other number it is at most one in as many as it has.
            filled = max(1 - share, 1e-5)
            if filled * numbers.SPARSE_SLOWER.value < 1:
                yield Wasted(
                    kind=KIND,
                    where=node.place,
                    operations=[node.name],
                    left=filled * numbers.SPARSE_SLOWER.value,
                    figures={"numbers": float(view.elements(matrix.name) or 0), "filled": filled},
                )
                break
