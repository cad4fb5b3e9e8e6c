"""Which operations of a graph share a stack: those in which no code of the user's runs."""

from __future__ import annotations

from typing import Any

import pytest

from tfperfkit.instruments.graphs.same_stacks import same_stacks

NAMES = ["adam/Mul", "adam/Svd", "adam/Assign"]


def of(module: str, **fields: Any) -> Any:
    """Something of a class in this module."""
    return type("Made", (), {"__module__": module, **fields})()


def optimizer(constraint: Any = None, rate: Any = None) -> Any:
    weight = of("keras.src.backend", constraint=constraint)
    return of("keras.src.optimizers.adam", _trainable_variables=[weight], _learning_rate=rate)


@pytest.mark.parametrize(
    ("owner", "same"),
    [
        (optimizer(), [0, 0, 0]),
        (optimizer(constraint=of("keras.src.constraints"), rate=of("keras.src.optimizers.schedules")), [0, 0, 0]),
        (optimizer(constraint=of("__main__")), [0, 1, 2]),
        (optimizer(rate=of("schedules")), [0, 1, 2]),
        (of("__main__"), [0, 1, 2]),
    ],
    ids=["stock", "Keras' constraint and schedule", "own constraint", "own schedule", "own optimizer"],
)
def test_what_an_optimizer_builds_has_one_stack_unless_code_of_the_persons_runs_in_it(
    owner: Any, same: list[int]
) -> None:
    assert same_stacks(NAMES, ["Mul", "Svd", "AssignVariableOp"], {"adam": owner}, []) == same
