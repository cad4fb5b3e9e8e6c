"""Results that each iteration of a loop computes from weights that no iteration assigns to."""

from __future__ import annotations

from typing import Any

from graph_causes import causes_in, code_of
from ops_builder import Builder
from tfperfkit_rules.graph.same_in_each import SameArgument
from tfperfkit_rules.graph.same_matrix import StayingMatrix

CELL = (("train.py", 39, "cell"), ("train.py", 47, "__call__"))
BELOW = (("train.py", 36, "rotation"), *CELL)
SIZE = "float32[256,256]"


def in_a_loop(*, varies: bool = False, assigns: bool = False) -> dict[str, Any]:
    """By kind, what is wasted in a loop whose cell solves with a matrix of weights: of the right side that it makes of
    the state, or of weights too; it may assign to them."""
    body = Builder("body")
    state = body.add("Placeholder", "state", (), SIZE)
    handle = body.add("Placeholder", "raw", (), "resource")
    raw = body.add("ReadVariableOp", "read", (handle,), SIZE, BELOW)
    matrix = body.add("Sub", "matrix", (raw, raw), SIZE, BELOW)
    right = body.add("AddV2", "right", (raw, state if varies else raw), SIZE, BELOW)
    solved = body.add("MatrixSolve", "solved", (matrix, right), SIZE, BELOW)
    body.add("MatMul", "next", (state, solved), SIZE, CELL)
    if assigns:
        body.add("AssignVariableOp", "assign", (handle, raw), "", CELL)
    body.results = ["next", handle]
    step = Builder()
    x = step.add("Placeholder", "x", (), SIZE)
    weights = step.add("Placeholder", "weights", (), "resource")
    step.add("While", "while", (x, weights), f"{SIZE};resource", (CELL[-1],), body="body")
    graph = step.graph(body)
    found: dict[str, Any] = {code_of(each): each for each in causes_in(graph) if isinstance(each, StayingMatrix)}
    for each in causes_in(graph):
        if isinstance(each, SameArgument) and not each.idle:
            found["again"] = each
    return found


def test_a_solution_of_weights_alone_is_the_same_in_all_turns_at_the_line_that_asks_for_it() -> None:
    found = in_a_loop()
    assert set(found) == {"again"}, "and no factors are advised where the whole solution stays"
    again = found["again"]
    assert again.operations == ["matrix", "right", "solved"] and not again.calls
    assert again.where is not None and again.where.line == 39
    assert again.uncounted_flops > 0


def test_a_solution_with_a_right_side_of_the_turn_is_not_the_same() -> None:
    assert set(in_a_loop(varies=True)) == {"GRF016"}


def test_weights_that_a_turn_assigns_to_change() -> None:
    assert not in_a_loop(assigns=True)
