"""The section on the processes that the script started, and the lines next to the accounts."""

from __future__ import annotations

import io

import msgspec
import pytest
from test_report_records import NAIVE_GAN

from tfperfkit.model import LineTime, Report, RunAccount, SourceSpan, StepAccount
from tfperfkit.records.children import Child, ChildGroup, Children, ChildrenInSteps, End
from tfperfkit.report.children import beside_the_run, beside_the_step, family
from tfperfkit.report.console import render

LOADS = LineTime(SourceSpan("/home/me/train.py", 31, "load_image"), 6.0)


def group(label: str, ended: dict[End, int], count: int = 4) -> ChildGroup:
    times = {"wall_s": 40.0, "cpu_s": 8.0, "busy_s": 10.0}
    return ChildGroup(label=label, method="fork", count=count, lines=(LOADS,), ended=ended, **times)


def make_report(children: Children | None) -> Report:
    account = StepAccount(steps=50, mean_ms=20.0, ordinary_ms=20.0, parts_ms={"input": 8.0, "graph": 12.0})
    steps = msgspec.structs.replace(NAIVE_GAN.steps, account=account)
    waits = LineTime(SourceSpan("/home/me/train.py", 60, "main"), 5.0)
    run = RunAccount(total_s=20.0, parts_s={"training": 15.0, "children": 5.0}, lines={"children": (waits,)})
    return msgspec.structs.replace(NAIVE_GAN, steps=steps, run_account=run, children=children)


LOADERS = Children(
    count=4,
    groups=(group("pool: __getitem__", {"no goodbye": 4}),),
    processes=tuple(
        Child(method="fork", pid=n, began_s=1.0, wall_s=10.0, part=f"children/child-{n}") for n in range(4)
    ),
    in_steps=ChildrenInSteps(processes=4, busy_ms=30.0, busy_s=1.5, lines=(LineTime(LOADS.where, 1.2),)),
)


def test_what_they_do_stands_beside_the_step_and_the_run() -> None:
    report = make_report(LOADERS)
    assert beside_the_step(report) == (
        "a step waits 8.00 ms for its input; meanwhile 4 child processes work for 30.0 ms, "
        "most in load_image (train.py:31) (80.0 %)"
    )
    assert beside_the_run(report) == (
        "the run waits 5.00 s at train.py:60 for 4 child processes, which work for 10.0 s, "
        "most of it in load_image (train.py:31)"
    )


def test_nothing_is_said_of_what_is_next_to_nothing() -> None:
    little = ChildrenInSteps(processes=1, busy_ms=1.0)
    report = make_report(msgspec.structs.replace(LOADERS, in_steps=little))
    assert beside_the_step(report) == ""
    quick = msgspec.structs.replace(report, run_account=RunAccount(total_s=20.0, parts_s={"children": 1.0}))
    assert beside_the_run(quick) == ""
    for none in (make_report(None), msgspec.structs.replace(report, run_account=None)):
        assert beside_the_run(none) == ""
    assert family(make_report(None)) is None and beside_the_step(make_report(None)) == ""


def test_how_they_ended_is_reported_where_it_was_not_well() -> None:
    section = family(make_report(LOADERS))
    assert section is not None and section.summary == "4 processes, 8.00 s of processor time"
    ended: dict[End, int] = {"finished": 1, "failed": 2, "no goodbye": 1}
    cut = Children(count=4, groups=(group("train", ended),), cut=True)
    section = family(make_report(cut))
    assert section is not None
    assert section.summary == (
        "more than 4 processes, 8.00 s of processor time; 2 failed; 1 killed, or left by os._exit"
    )
    assert section.notes == ("0 of them were recorded in whole, of the others sums only.",)


@pytest.mark.parametrize("width", [80, 100, 140])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    trained = Child(
        method="spawn",
        pid=9,
        began_s=1.0,
        wall_s=60.0,
        part="children/child-0005",
        process="width 512",
        target="__mp_main__:train",
        trains=True,
        steps=250,
        step_ms=21.3,
        finding="EAG001",
        headline="First: the step runs as 50 separate operations, called one by one from Python (train.py:13).",
    )
    many = tuple(group(f"a_long_name_of_a_function_{n}", {"finished": 1}) for n in range(12))
    report = make_report(
        Children(count=60, groups=many, processes=(*LOADERS.processes, trained), in_steps=LOADERS.in_steps)
    )
    file = io.StringIO()
    render(report, file=file, width=width, color=False, full=True)
    lines = file.getvalue().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("── children"))
    section = lines[begin : begin + 60]
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(section).split())
    assert "train (width 512)" in text and "EAG001" in text and "child-0005" in text.replace(" ", "")
    assert "4 more kinds are in the JSON report" in text
