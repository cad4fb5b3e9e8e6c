"""Calls that could serve for each other, in made-up graphs: compiled functions, shared layers, what changes between."""

from __future__ import annotations

from typing import Any

from tfperfkit.graph.repeats import Called, LayerCall, assigns, draws, layer_calls
from tfperfkit.graph.stages import BACKWARD, FORWARD, UPDATE

#: x, a variable, and two calls of one function on both.
NAMES = ["x", "weights", "call", "call_1"]
KINDS = ["Placeholder", "Placeholder", "PartitionedCall", "PartitionedCall"]
INPUTS = [[], [], [0, 1], [0, 1]]


def found(names: list[str], kinds: list[str], inputs: list[list[int]], **fields: Any) -> list[LayerCall]:
    count = len(names)
    given: dict[str, Any] = {"layers": {}, "functions": (), "variables": {1}, **fields}
    return layer_calls(
        names, kinds, [0] * count, inputs, "f" * count, {}, given["layers"], set(), [0], given["functions"],
        given["variables"],
    )  # fmt: skip


def make_calls(*numbers: int, random: bool = False, assigns: bool = False) -> list[Called]:
    return [Called(number, 0, random, assigns) for number in numbers]


def test_a_function_called_twice_on_the_same_tensors() -> None:
    first, second = found(NAMES, KINDS, INPUTS, functions=make_calls(2, 3))
    assert (first.scope, second.scope) == ("call", "call_1")
    assert first.inputs == second.inputs and not first.random


def test_what_is_assigned_between_two_calls_tells_them_apart() -> None:
    names, kinds = [*NAMES[:3], "assign", "call_1"], [*KINDS[:3], "AssignVariableOp", KINDS[3]]
    first, second = found(names, kinds, [[], [], [0, 1], [1, 0], [0, 1]], functions=make_calls(2, 4))
    assert first.inputs != second.inputs
    first, second = found(NAMES, KINDS, INPUTS, functions=make_calls(2, 3, assigns=True))
    assert first.inputs != second.inputs, "the first call itself assigns: batch normalisation"


def test_other_tensors_and_random_numbers_tell_calls_apart() -> None:
    names, kinds = ["x", "weights", "y", "call", "call_1"], [*KINDS[:2], "Placeholder", *KINDS[2:]]
    first, second = found(names, kinds, [[], [], [], [0, 1], [2, 1]], functions=make_calls(3, 4))
    assert first.inputs != second.inputs
    assert all(call.random for call in found(NAMES, KINDS, INPUTS, functions=make_calls(2, 3, random=True)))


def test_a_layer_within_two_models_is_seen() -> None:
    names = ["x", "weights", "a/body/Read", "a/body/MatMul", "a/head/Relu", "b/body/Read", "b/body/MatMul"]
    kinds = ["Placeholder", "Placeholder", "ReadVariableOp", "MatMul", "Relu", "ReadVariableOp", "MatMul"]
    inputs = [[], [], [1], [0, 2], [3], [1], [0, 5]]
    layers = {"a": 0, "a/body": 1, "a/head": 2, "b": 3, "b/body": 1}
    first, second = found(names, kinds, inputs, layers=layers)
    assert (first.scope, second.scope, first.layer) == ("a/body", "b/body", 1)
    assert first.inputs == second.inputs


def test_types_that_draw_or_assign() -> None:
    assert draws(["MatMul", "StatefulUniform"]) and draws(["EagerPyFunc"]) and not draws(["StatefulPartitionedCall"])
    assert assigns(["AssignAddVariableOp"]) and assigns(["RngReadAndSkip"]) and not assigns(["StatefulPartitionedCall"])


def test_updates_of_the_same_variables_are_one_optimizer_s() -> None:
    """Update a critic three times in a loop, all with one optimizer; a generator has another."""
    names = ["x", "w", "v", "call", "call_1", "grad", "grad_1", "adam/Assign", "adam_1/Assign"]
    kinds = [*KINDS[:2], "Placeholder", *KINDS[2:], "Grad", "Grad", "AssignSubVariableOp", "AssignSubVariableOp"]
    stages = "".join([FORWARD] * 5 + [BACKWARD] * 2 + [UPDATE] * 2)

    def serves(second: int) -> list[int]:
        inputs = [[], [], [], [0, 1], [0, 1], [3], [4], [1, 5], [second, 6]]
        functions, optimizers = make_calls(3, 4), {"adam", "adam_1"}
        calls = layer_calls(
            names, kinds, [0] * 9, inputs, stages, {5: 3, 6: 4}, {}, optimizers, [0], functions, {1, 2}
        )  # fmt: skip
        return [call.serves for call in calls]

    first, other = serves(2)
    assert first and other and not first & other
    first, again = serves(1)
    assert first == again == 1
