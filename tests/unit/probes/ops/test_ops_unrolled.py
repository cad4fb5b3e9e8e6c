"""The same product of the same tensors in each turn of a Python loop."""

from __future__ import annotations

import pytest
from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_rules.graph.same_in_unrolled import RepeatedProducts

STATES, PROJECTED = "float32[32,64]", "float32[32,256]"
CALL = (("train.py", 15, "call"), ("train.py", 45, "train_step"))


def decoder(times: int = 5, *, own: bool = False, noise: bool = False, assigns: bool = False) -> list[RepeatedProducts]:
    """Each turn projects what an encoder made, and adds what follows from its own query. ``own``: of a tensor of its
    own; ``noise``: of random numbers; ``assigns``: the kernel is assigned to before each."""
    made = Builder()
    encoded = made.add("Placeholder", "encoded", (), STATES)
    kernel = made.add("Placeholder", "kernel", (), "resource")
    for turn in range(times):
        values = made.add("Placeholder", f"values_{turn}", (), STATES) if own else encoded
        if noise:
            drawn = made.add("RandomStandardNormal", f"noise_{turn}", (), STATES)
            values = made.add("Mul", f"dropped_{turn}", (values, drawn), STATES, CALL)
        read = made.add("ReadVariableOp", f"read_{turn}", (kernel,), "float32[64,256]", CALL)
        keys = made.add("MatMul", f"keys_{turn}", (values, read), PROJECTED, CALL)
        bound = made.add("Tanh", f"tanh_{turn}", (keys,), PROJECTED, CALL)
        query = made.add("Placeholder", f"query_{turn}", (), PROJECTED)
        made.add("AddV2", f"joined_{turn}", (bound, query), PROJECTED, CALL)
        if assigns:
            made.add("AssignSubVariableOp", f"assign_{turn}", (kernel, read), "", CALL)
    return [each for each in causes_in(made.graph(), None) if isinstance(each, RepeatedProducts)]


def test_what_each_turn_computes_of_the_same() -> None:
    (found,) = decoder()
    assert found.where is not None and [place.line for place in found.places] == [15, 45]
    assert found.left == 1 / 5 and (found.times, found.products) == (5, 5)
    assert {name.partition("_")[0] for name in found.operations} == {"keys", "tanh"}, "not what joins the query"


@pytest.mark.parametrize("fields", [{"own": True}, {"noise": True}, {"assigns": True}, {"times": 3}])
def test_silent_where_turns_differ(fields: dict[str, bool]) -> None:
    assert decoder(**fields) == []  # type: ignore[arg-type]
