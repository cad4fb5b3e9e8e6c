"""GRF023 in a loop: a triangular solution of which both sides stay."""

from __future__ import annotations

import pytest
from ops_builder import Builder
from tfperfkit_rules.graph.same_in_each import SameInEachCall

from tfperfkit.graph.recorded import RecordedFunction

MATRIX = "float32[640,640]"


def found(right: str) -> list[list[str]]:
    """Solve with a matrix that stays, in a loop; ``right``: what stands on the right side."""
    body = Builder("body")
    for name in ("state", "factor", "target"):
        body.add("Placeholder", name, makes=MATRIX)
    body.add("MatrixTriangularSolve", "solved", ("factor", right), MATRIX)
    body.add("AddV2", "next", ("state", "solved"), MATRIX)
    body.results = ["next", "factor", "target"]
    root = Builder()
    for name in ("x", "y", "z"):
        root.add("Placeholder", name, makes=MATRIX)
    root.add("While", "while", ("x", "y", "z"), ";".join([MATRIX] * 3), body="body", cond="condition")
    function = RecordedFunction(root.graph(body, Builder("condition")))
    views = [each.view for each in function.bodies if each.view.in_loop]
    return [cause.operations for view in views for cause in SameInEachCall().find(view)]


@pytest.mark.parametrize(("right", "operations"), [("target", [["solved"]]), ("state", [])])
def test_a_solution_stays_if_both_sides_do(right: str, operations: list[list[str]]) -> None:
    assert found(right) == operations
