"""From what was typed, and from findings, to changed runs."""

from __future__ import annotations

import msgspec
import pytest
from side_builder import make_finding

from tfperfkit.errors import UsageError
from tfperfkit.model import Overhead, Report, RunInfo, SourceSpan, StepSummary
from tfperfkit.records.trials import Change, parse_change, place_of
from tfperfkit.trials.choice import Choice, varied
from tfperfkit.trials.command import seconds
from tfperfkit.trials.findings import of_one, untested
from tfperfkit.trials.judging import Variant


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("jit", Change("jit")),
        ("jit:Model.call", Change("jit", "Model.call")),
        ("threads=2,1", Change("threads", "", "2,1")),
        ("env:A=b=c", Change("env", "A", "b=c")),
        ("without-line:train.py:31", Change("without-line", "train.py:31")),
    ],
)
def test_how_changes_are_written(text: str, change: Change) -> None:
    assert parse_change(text) == change
    assert change.text == text


def test_what_is_written_wrongly_is_said() -> None:
    choice = Choice()
    for text, words in {
        "jti": "did you mean 'jit'",
        "threads=two": "two numbers",
        "batch": "a factor",
        "graph": "a function",
        "prefetch=3": "no parameters",
        "": "no experiment",
    }.items():
        with pytest.raises(UsageError, match=words):
            choice.typed(text)


def test_together_they_keep_what_the_least_keeps() -> None:
    choice = Choice()
    variant = choice.variant([choice.typed("prefetch"), choice.typed("env:A=1"), choice.typed("graph:step")])
    assert variant.keeps == "mathematics"
    assert variant.environment == {"A": "1"}
    assert variant.edited == ("step",)
    assert variant.text == "prefetch + env:A=1 + graph:step"


@pytest.mark.parametrize("given", [["--bs", "8", "x"], ["x", "--bs=8"], ["x"]])
def test_an_option_is_varied(given: list[str]) -> None:
    variants = varied("--bs {16,32}", given)
    assert [item.arguments for item in variants] == [("x", "--bs", "16"), ("x", "--bs", "32")]


def test_a_varied_option_needs_values() -> None:
    for text in ("--bs", "--bs {}"):
        with pytest.raises(UsageError, match="names no values"):
            varied(text, [])


def test_times() -> None:
    assert [seconds(text) for text in ("90s", "3m", "1.5h", "20")] == [90, 180, 5400, 20]
    for text in ("", "0s", "3 days", "-1s"):
        with pytest.raises(UsageError):
            seconds(text)


def test_one_finding_is_tried_by_its_id() -> None:
    places = [(SourceSpan(f"/home/ann/{name}.py", 7, name),) for name in ("first", "second")]
    found = tuple(msgspec.structs.replace(make_finding("EAG001"), where=where) for where in places)
    steps = StepSummary(count=9, source="custom")
    run = RunInfo(argv=("train.py",), exit_code=0, status="finished")
    report = Report(schema=1, run=run, probes=(), steps=steps, findings=found, overhead=Overhead())
    (first,), (second,) = of_one(Choice(), report, "EAG001"), of_one(Choice(), report, "eag001-2")
    assert (first.text, first.place, second.text) == ("graph:first", "/home/ann/first.py:7", "graph:second")
    assert [item.text for item in of_one(Choice(), report, "jit")] == ["jit"]
    for wrong, words in {"INP002": "has no finding 'INP002'; it has EAG001, EAG001-2", "jti": "did you mean"}.items():
        with pytest.raises(UsageError, match=words):
            of_one(Choice(), report, wrong)


def test_a_finding_that_nothing_tests_is_named() -> None:
    """Else a user takes the first finding for tested when only the second was."""
    eager = msgspec.structs.replace(make_finding("EAG001"), where=(SourceSpan("/home/ann/walk.py", 179, ""),))
    waits = msgspec.structs.replace(make_finding("INP001"), where=(SourceSpan("/home/ann/walk.py", 94, ""),))
    remark = msgspec.structs.replace(eager, code="INP013", severity="info")
    steps = StepSummary(count=9, source="custom")
    run = RunInfo(argv=("walk.py",), exit_code=0, status="finished")
    found = (eager, waits, remark)
    report = Report(schema=1, run=run, probes=(), steps=steps, findings=found, overhead=Overhead())
    tested = [Variant(text="parallel", finding="INP001", place=place_of(waits))]
    (said,) = untested(report, tested)
    assert said.startswith("No experiment tests EAG001 (walk.py:179): make the change by hand")
    assert untested(report, [*tested, Variant(text="graph:step", finding="EAG001", place=place_of(eager))]) == []
