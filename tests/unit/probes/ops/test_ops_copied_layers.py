"""Layers that TimeDistributed puts into a graph once for each time step, by the structure that it makes."""

from __future__ import annotations

import pytest
from ops_builder import Builder
from tfperfkit_probes.ops.copied_layers import copied_layers
from tfperfkit_probes.ops.model import CopiedLayer

STEPS = 5


def distributed(scope: str = "net/each/", *, carried: bool = False, swapped: bool = True) -> list[CopiedLayer]:
    """Slices of a tensor, a product of each, stacked: as Keras names them in the scope of a layer. ``carried``: each
    product takes the one before, as a recurrence does."""
    made = Builder()
    x = made.add("Placeholder", "x", (), f"float32[8,{STEPS},4]")
    kernel = made.add("Placeholder", "kernel", (), "float32[4,4]")
    order = made.add("Placeholder", "order", (), "int32[3]")
    turned = f"float32[{STEPS},8,4]" if swapped else f"float32[8,4,{STEPS}]"
    swap = made.add("Transpose", f"{scope}transpose", (x, order), turned)
    results: list[str] = []
    for number in range(STEPS):
        at = made.add("Const", f"{scope}at{number}", (), "int32[1]", value=number)
        part = made.add("StridedSlice", f"{scope}slice{number}", (swap, at, at, at), "float32[8,4]")
        if carried and results:
            part = made.add("AddV2", f"{scope}sum{number}", (part, results[-1]), "float32[8,4]")
        results.append(made.add("MatMul", f"{scope}product{number}", (part, kernel), "float32[8,4]"))
    made.add("Pack", f"{scope}stack", tuple(results), f"float32[{STEPS},8,4]")
    made.add("MatMul", f"gradient_tape/{scope}product0/MatMul", (results[0], kernel), "float32[8,4]")
    made.add("Relu", "net/each_1/Relu", (x,), f"float32[8,{STEPS},4]")
    return copied_layers([made.graph()])


def test_a_layer_that_is_called_on_each_time_step_is_found_with_its_gradients() -> None:
    (found,) = distributed()
    assert found == CopiedLayer(layer="net/each", copies=STEPS, operations=1 + 3 * STEPS + 1 + 1)


@pytest.mark.parametrize("others", [{"carried": True}, {"swapped": False}, {"scope": ""}])
def test_other_results_that_are_stacked_are_no_copies_of_a_layer(others: dict[str, object]) -> None:
    assert distributed(**others) == []  # type: ignore[arg-type]
