"""The replacement of a function of the user's."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from side_builder import make_finding
from tfperfkit_experiments.host_reads_late import Late
from tfperfkit_experiments.on_function import WithArguments
from tfperfkit_experiments.one_iterator import Continued
from tfperfkit_experiments.same_objects import content

from tfperfkit.experiment import Change
from tfperfkit.instruments.changes import edited
from tfperfkit.model import Overhead, Report, RunInfo, SourceSpan, StepSummary
from tfperfkit.registry import load_experiment
from tfperfkit.remedy import BatchSize, Remedy, Setting
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


def wrapped(name: str, trial: Trial, function: Any) -> Any:
    """Return the function as the experiment changes it."""
    experiment: Any = load_experiment(name)
    return experiment.decorate(trial, Change(name, "f"), function)


def test_once_keeps_a_result_for_each_set_of_arguments() -> None:
    trial, seen = Trial(), []

    def load(name: str, sizes: list[int], *, scale: int = 1) -> object:
        seen.append(name)
        return object()

    once = wrapped("once", trial, load)
    sizes = [1]
    assert once("a", sizes) is once("a", sizes)
    assert once("a", sizes) is not once("b", sizes)
    assert once("a", [1]) is not once("a", [1])  # lists may change: by identity
    assert once("a", sizes, scale=2) is not once("a", sizes)
    assert seen == ["a", "b", "a", "a", "a"]
    assert trial.count == 3 and once.__name__ == "load"


def test_a_generator_is_not_kept() -> None:
    trial = Trial()

    def rows() -> Any:
        yield 1

    assert wrapped("once", trial, rows) is rows
    assert trial.reasons == ["it is a generator, whose first result is used up"]


def test_what_opens_a_file_again_is_kept_and_not_what_hands_out_its_examples(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "def load():\n    return open('rows')\n\ndef rows():\n    for number in range(3):\n        yield load()\n"
    )

    def tested(*names: str) -> list[str]:
        where = tuple(SourceSpan(str(script), line, name) for line, name in enumerate(names, 1))
        finding = msgspec.structs.replace(make_finding("INP014"), where=where)
        steps = StepSummary(count=100, source="custom")
        run = RunInfo(argv=("train.py",), exit_code=0, status="finished", machine={"cpus": 2})
        report = Report(schema=1, run=run, probes=(), steps=steps, findings=(finding,), overhead=Overhead())
        return [item.text for item in Choice().of_findings(report)]

    assert tested("rows", "load") == tested("load", "rows") == ["once:load"]
    assert tested("Rows.__getitem__") == tested("rows") == []


@pytest.mark.parametrize("name", ["once", "without"])
def test_what_is_no_function_stays(name: str) -> None:
    trial = Trial()
    thing = property(lambda self: 1)
    assert wrapped(name, trial, thing) is thing
    assert trial.reasons


def test_a_shell_around_a_function_binds_as_it_does() -> None:
    def method(self: Any, x: int) -> tuple[Any, int]:
        return self, x

    class Model:
        step = WithArguments(method, lambda arguments, named: ((arguments[0] + 1,), named))

    model = Model()
    assert model.step(1) == (model, 2)
    assert Model.step.__name__ == "method"


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


def test_the_figures_of_a_remedy_are_what_is_tried() -> None:
    steps = StepSummary(count=9, source="keras")
    run = RunInfo(argv=("train.py",), exit_code=0, status="finished")
    remedies: tuple[tuple[Remedy, str], ...] = (
        (BatchSize("training", 8), "batch=x8"),
        (BatchSize("training"), "batch=x4"),
        (Setting("steps_per_execution", 32), "steps-per-execution=32"),
        (Setting("steps_per_execution"), "steps-per-execution=16"),
    )
    for remedy, expected in remedies:
        finding = msgspec.structs.replace(make_finding(), remedy=remedy)
        report = Report(schema=1, run=run, probes=(), steps=steps, findings=(finding,), overhead=Overhead())
        texts = [item.text for item in Choice().of_findings(report)]
        assert expected in texts, texts


def test_a_late_value_is_read_when_it_is_used() -> None:
    read: list[str] = []

    def late(value: Any) -> Any:
        def give() -> Any:
            read.append("")
            return value

        return Late(give)

    held = [late(np.float32(value)) for value in (3.0, 1.0, 2.0)]
    assert read == []
    assert f"{held[0]:.2f}" == "3.00" and len(read) == 1 and str(held[0]) == "3.0" and len(read) == 1
    assert float(np.mean(held)) == 2.0 and min(held) == 1.0 and sum(held) == 6.0 and len(read) == 3
    assert held[1] + 1 == 2 and 1 - held[1] == 0 and held[1] < held[2] and round(held[2]) == 2
    assert np.add(held[0], held[1]) == 4 and math.sqrt(held[1]) == 1
    assert {held[1]: "x"}[np.float32(1.0)] == "x" and held[1].item() == 1.0 and held[0].dtype == np.float32
    assert [1, 2, 3][late(np.int64(1))] == 2
    rows = late(np.arange(6.0).reshape(2, 3))
    assert rows.shape == (2, 3) and rows[1, 2] == 5 and len(rows) == 2 and [row.sum() for row in rows] == [3, 12]
    assert np.asarray(rows, np.float32).dtype == np.float32 and np.array_equal(pickle.loads(pickle.dumps(rows)), rows)
    assert not late(np.float32(0)) and not isinstance(held[0], float)
    total, grown = late(np.float32(1)), late(np.arange(2.0))
    total += held[0]
    grown += 1
    assert total == 4 and isinstance(total, np.float32) and list(grown) == [1, 2]
    assert divmod(7, held[2]) == (3, 1) and -held[1] == -1 and held[0] ** 2 == 9 and 2 ** held[0] == 8


class Options:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


def test_equal_objects_are_those_that_trace_alike() -> None:
    assert content(Options(a=1, b="x")) == content(Options(b="x", a=1)) is not None
    for other in (Options(a=1.0), Options(a=True), Options(a=2), Options(b=1)):
        assert content(other) != content(Options(a=1))
    for unknown in (Options(a=[1]), Options(a=Options(b=1)), Options(), object(), 3, "x", [1]):
        assert content(unknown) is None


def test_an_object_that_was_changed_stands_for_no_other() -> None:
    seen: list[Any] = []

    class Compiled:
        get_concrete_function = None

        def __call__(self, options: Any) -> None:
            seen.append(options)

    trial = Trial()
    function = wrapped("same-objects", trial, Compiled())
    first, equal, later = Options(a=1), Options(a=1), Options(a=1)
    function(first)
    function(equal)
    assert seen == [first, first] and trial.count == 1
    first.a = 2
    function(later)
    assert seen[-1] is later and trial.count == 1


def test_a_line_that_can_be_left_out_is_found(tmp_path: Path) -> None:
    script, gone = tmp_path / "train.py", tmp_path / "gone.py"
    script.write_text("x = 1\nfor i in [2]:\n    x = i\n    def f():\n        y = 2\n        print(y)\n    x += 1\n")

    def tried(*places: tuple[Path, int]) -> list[str]:
        where = tuple(SourceSpan(str(file), line, "f") for file, line in places)
        finding = msgspec.structs.replace(make_finding("STP005"), where=where)
        experiment: Any = load_experiment("without-line")
        return [change.target for change in experiment.changes(None, finding)]

    assert [line for line in range(1, 9) if tried((script, line))] == [3, 6, 7]
    assert tried((script, 1), (script, 6), (script, 7)) == ["train.py:6"]
    assert tried((gone, 1), (gone, 2)) == ["gone.py:1"]  # nobody can tell
    script.write_bytes(b"\x00 =")
    assert not tried((script, 6))


def test_an_iterator_that_is_handed_out_again_at_its_end_begins_anew() -> None:
    going = Continued(lambda: iter([1, 2]))
    assert [next(going.reused()) for _ in range(5)] == [1, 2, 1, 2, 1]
    assert not going.ended


def test_an_iterator_that_is_read_to_its_end_ends() -> None:
    going = Continued(lambda: iter([1, 2]))
    assert next(going.reused()) == 1
    assert list(going.reused()) == [2]  # goes on where it was
    assert going.ended


def test_an_empty_iterator_ends_also_where_it_is_handed_out_again() -> None:
    going = Continued(lambda: iter([]))
    with pytest.raises(StopIteration):
        next(going.reused())
