"""Branches of which each row takes one: the line at which they stand side by side comes first."""

from __future__ import annotations

import pytest
from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_rules.graph.picked_branch import PickedBranches

LOOP = ("train.py", 39, "__call__")
#: Within the layer's function, or in another one of the same name that it calls.
BELOW = {"called": (("train.py", 22, "__call__"), LOOP), "here": (("train.py", 38, "__call__"),)}


@pytest.mark.parametrize(("way", "line"), [("called", 39), ("here", 38)])
def test_the_line_that_calls_the_branches_comes_before_that_of_their_work(way: str, line: int) -> None:
    made = Builder()
    x = made.add("Placeholder", "x", (), "float32[200,16]")
    which = made.add("Placeholder", "which", (), "int32[200,1]")
    kernels = [made.add("Placeholder", f"kernel{number}", (), "float32[16,16]") for number in range(4)]
    total = made.add("ZerosLike", "zeros", (x,), "float32[200,16]", (LOOP,))
    for number, kernel in enumerate(kernels):
        each = made.add("Const", f"number{number}", (), "int32[]", value=number)
        mask = made.add("Equal", f"mask{number}", (which, each), "bool[200,1]", (LOOP,))
        mine = made.add("Cast", f"mine{number}", (mask,), "float32[200,1]", (LOOP,))
        result = made.add("MatMul", f"result{number}", (x, kernel), "float32[200,16]", BELOW[way])
        taken = made.add("Mul", f"taken{number}", (mine, result), "float32[200,16]", (LOOP,))
        total = made.add("AddV2", f"total{number}", (total, taken), "float32[200,16]", (LOOP,))
    (found,) = [each for each in causes_in(made.graph(), None) if isinstance(each, PickedBranches)]
    assert found.branches == 4
    assert found.where is not None and found.where.line == line
