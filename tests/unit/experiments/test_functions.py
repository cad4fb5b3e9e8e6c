"""What stands in the place of a function of the person's."""

from __future__ import annotations

from typing import Any

import pytest
from tfperfkit_experiments.once.install import first_kept

from tfperfkit.experiment import Change
from tfperfkit.instruments.changes.called import called
from tfperfkit.registry import load_experiment


class Trial:
    """Counts."""

    def __init__(self) -> None:
        self.count = 0
        self.reasons: list[str] = []

    def when_keras(self, callback: Any) -> None:
        callback()

    def is_user_code(self, filename: str) -> bool:
        return True

    def applied(self) -> None:
        self.count += 1

    def refuse(self, reason: str) -> None:
        self.reasons.append(reason)


def test_once_keeps_a_result_for_each_set_of_arguments() -> None:
    trial, seen = Trial(), []

    def load(name: str, sizes: list[int], *, scale: int = 1) -> object:
        seen.append(name)
        return object()

    once = first_kept(trial, load)
    sizes = [1]
    assert once("a", sizes) is once("a", sizes)
    assert once("a", sizes) is not once("b", sizes)
    assert once("a", [1]) is not once("a", [1])  # lists may change: by identity
    assert once("a", sizes, scale=2) is not once("a", sizes)
    assert seen == ["a", "b", "a", "a", "a"]
    assert trial.count == 3 and once.__name__ == "load"


@pytest.mark.parametrize("name", ["once", "without"])
def test_what_is_no_function_stays(name: str) -> None:
    trial = Trial()
    experiment: Any = load_experiment(name)
    thing = property(lambda self: 1)
    assert experiment.decorate(trial, Change(name, "f"), thing) is thing
    assert trial.reasons


def test_a_shell_around_a_function_binds_as_it_does() -> None:
    counted: list[int] = []

    def method(self: Any, x: int) -> tuple[Any, int]:
        return self, x

    class Model:
        step = called(method, lambda: counted.append(1), lambda args, named: ((args[0] + 1,), named))

    model = Model()
    assert model.step(1) == (model, 2)
    assert counted == [1]
    assert called(method, lambda: None).__name__ == "method"
