"""Which operations of a graph share a stack: those in which no code of the user's runs."""

from __future__ import annotations

from typing import Any

import pytest

from tfperfkit.instruments.graphs.stack_choice import INTERVAL, choose_stacks
from tfperfkit.records.graph_contents import Added

NAMES = ["adam/Mul", "adam/Svd", "adam/Assign"]


def make_instance(module: str, **fields: Any) -> Any:
    """Something of a class in this module."""
    return type("Made", (), {"__module__": module, **fields})()


def optimizer(constraint: Any = None, rate: Any = None) -> Any:
    weight = make_instance("keras.src.backend", constraint=constraint)
    return make_instance("keras.src.optimizers.adam", _trainable_variables=[weight], _learning_rate=rate)


@pytest.mark.parametrize(
    ("owner", "same"),
    [
        (optimizer(), [0, 0, 0]),
        (
            optimizer(
                constraint=make_instance("keras.src.constraints"), rate=make_instance("keras.src.optimizers.schedules")
            ),
            [0, 0, 0],
        ),
        (optimizer(constraint=make_instance("__main__")), [0, 1, 2]),
        (optimizer(rate=make_instance("schedules")), [0, 1, 2]),
        (make_instance("__main__"), [0, 1, 2]),
    ],
    ids=["stock", "Keras' constraint and schedule", "own constraint", "own schedule", "own optimizer"],
)
def test_what_an_optimizer_builds_has_one_stack_unless_code_of_the_users_runs_in_it(
    owner: Any, same: list[int]
) -> None:
    kinds = ["Mul", "Svd", "AssignVariableOp"]
    assert choose_stacks(NAMES, kinds, {"adam": owner}, [], (), str) == same


def choose(names: list[str], lines: list[str], gradients: tuple[Added, ...] = ()) -> tuple[list[int], int]:
    """The choice among operations that come from these lines, and how many lines were looked at for it."""
    looked = []

    def line(index: int) -> str:
        looked.append(index)
        return lines[index]

    return choose_stacks(names, ["Mul"] * len(names), {}, gradients, (), line), len(looked)


def test_a_gradient_s_operations_share_the_stack_of_the_call_for_it() -> None:
    count = 3 * INTERVAL
    names = [*(f"x{number}" for number in range(4)), *(f"gradient_tape/{number}" for number in range(count))]
    same, looked = choose(names, ["10"] * len(names))
    assert same[:4] == [0, 1, 2, 3] and len(set(same[4:])) == 3 and looked == 6
    plain = [f"x{number}" for number in range(len(names))]
    assert choose(plain, ["10"] * len(names), (Added(4, len(names), "step", "x"),))[0] == same


def test_operations_between_two_lines_have_their_own_stacks() -> None:
    names = [f"gradient_tape/{number}" for number in range(10)]
    assert choose(names, ["10"] * 5 + ["11"] * 5)[0] == list(range(10))


def test_of_constants_only_the_large_ones_have_a_stack() -> None:
    assert choose_stacks(["a", "b", "c"], ["Const", "Const", "Placeholder"], {}, [], {1}, str) == [-1, 1, -1]
