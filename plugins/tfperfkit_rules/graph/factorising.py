"""The operations that factorise a matrix, and the cost of solving with one."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.flops import LU
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit.pricing.machines import TWO_BUSY_CORES

MIN_MATRIX = Threshold(
    32, "rows", "minimum size of a factorised matrix: a smaller one takes no time", Chosen("see MIN_SOLVED")
)
FACTORISING_SLOWER = Threshold(
    3,
    "ratio",
    "ratio of the time to factorise a matrix to that of a matmul of as many FLOPs",
    Measured("it reaches 0.1 to 0.9 of a product's rate with 480 and 1,000 rows", TWO_BUSY_CORES, None),
)
SOLVES = optable.names(kind="solve")
DECOMPOSES = optable.names(kind="decomposition", differentiates=False)


def columns_of(view: View, node: Node) -> int:
    """How many right sides a solution has; 0 for a decomposition."""
    return (view.shape(*node.inputs[1]) or (1,))[-1] if node.type in SOLVES else 0


def flops_of(size: int, columns: int) -> float:
    """The FLOPs of factorising a matrix of ``size`` rows, and of the two triangular solutions for each column."""
    return LU * float(size * size * size) + 2.0 * size**2 * columns


def solving(view: View, node: Node) -> float:
    """The FLOPs of a solution, as those of a product that takes as long."""
    size = max((view.shape(*node.inputs[0]) or (0,))[-1], 0)
    return FACTORISING_SLOWER.value * flops_of(size, columns_of(view, node))
