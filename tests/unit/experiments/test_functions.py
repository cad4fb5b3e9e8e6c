"""What stands in the place of a function of the person's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from side_builder import make_finding
from tfperfkit_experiments.once.install import first_kept

from tfperfkit.experiment import Change
from tfperfkit.instruments.changes import edited
from tfperfkit.instruments.changes.called import called
from tfperfkit.model import Measurement, Overhead, Report, RunInfo, StepSummary
from tfperfkit.registry import load_experiment
from tfperfkit.trials.choice import Choice


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


def test_what_is_defined_early_is_changed_when_the_experiments_come(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_decorators", "_waiting"):
        monkeypatch.setattr(edited, name, {})
    monkeypatch.setattr(edited, "_defined", set())

    class Loader:
        def method(self, x: int) -> tuple[Any, int]:
            """Its words."""
            return self, x

        def fixed(x: int) -> int:  # type: ignore[misc]
            return x

        def made(cls: Any, x: int) -> tuple[Any, int]:
            return cls, x

        method = edited.decorate("f", method)
        fixed = edited.decorate("f", staticmethod(fixed))
        made = edited.decorate("f", classmethod(made))

    loader = Loader()
    assert loader.method(1) == (loader, 1) and loader.fixed(1) == 1 and Loader.made(1) == (Loader, 1)
    assert Loader.method.__doc__ == "Its words." and edited.was_defined("f") and not edited.was_defined("g")

    def tenfold(function: Any) -> Any:
        return lambda *arguments: function(*arguments[:-1], 10 * arguments[-1])

    edited.provide("f", tenfold)
    assert loader.method(1) == (loader, 10) and loader.fixed(1) == 10 and loader.made(1) == (Loader, 10)
    edited.provide("f", tenfold)
    assert loader.method(1) == (loader, 100)
    assert edited.decorate("f", lambda x: x)(1) == 100  # defined later: at once


def test_the_figures_of_a_finding_are_what_is_tried() -> None:
    rows = (
        Measurement("examples in a batch", 32.0, "count", "run"),
        Measurement("examples in a batch to try", 256.0, "count", "advice"),
        Measurement("steps in one call to try", 32.0, "count", "advice"),
    )
    steps = StepSummary(count=9, source="keras")
    run = RunInfo(argv=("train.py",), exit_code=0, status="finished")
    for code, evidence, expected in (
        ("BAT002", rows, "batch=x8"),
        ("BAT001", rows[:1], "batch=x4"),
        ("STP009", rows, "steps-per-execution=32"),
        ("STP002", rows[:1], "steps-per-execution=16"),
    ):
        finding = msgspec.structs.replace(make_finding(code), evidence=evidence)
        report = Report(schema=1, run=run, probes=(), steps=steps, findings=(finding,), overhead=Overhead())
        texts = [item.text for item in Choice().of_findings(report)]
        assert expected in texts, texts
