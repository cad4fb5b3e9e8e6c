"""A work whose breakdown would explain little has none, but a list of what took its time."""

from __future__ import annotations

import msgspec
import pytest
from evidence_builder import make_account, make_evidence

from tfperfkit.analysis.step_summary import of_work
from tfperfkit.model import SourceSpan, Work
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.report.terminal import Screen
from tfperfkit.report.work import work_lines


def made(parts: dict[str, float], *, seconds: float, iterations: int | None = None) -> Work:
    mean = sum(parts.values())
    table = StepTable(
        steps=tuple(
            Step(n + 1, round(n * mean * 1e6), round((n + 1) * mean * 1e6), 1, 0, "clean")
            for n in range(iterations or 1)
        ),
        source="work",
    )
    work = Work(
        kind="loop",
        where=SourceSpan("/a/train.py", 3),
        seconds=seconds,
        share_of_run=0.5,
        iterations=iterations,
        spent_s={"waiting": 0.9 * seconds, "graph": 0.095 * seconds, "python": 0.005 * seconds},
    )
    evidence = make_evidence(account=make_account(parts), steps=table)
    return of_work(
        evidence.narrowed(work=work, steps=table, account=evidence.account, samples=evidence.samples, log=evidence.log)
    )


@pytest.mark.parametrize(
    ("parts", "seconds", "iterations", "told"),
    [
        ({"graph": 9000.0, "other": 1000.0}, 12.0, None, True),
        ({"graph": 4000.0, "other": 6000.0}, 12.0, None, False),  # most of it is unknown
        ({"graph": 13.0}, 10.0, None, False),  # 13 ms of ten seconds
        ({"graph": 50.0}, 10.0, 150, True),
        ({"graph": 50.0}, 10.0, 15, False),  # the iterations are a small part of the loop
    ],
)
def test_it_is_told_in_one_line(parts: dict[str, float], seconds: float, iterations: int | None, told: bool) -> None:
    work = made(parts, seconds=seconds, iterations=iterations)
    text = " ".join(line.plain for line in work_lines([work], {}, Screen(width=200)))
    assert ("measured by" in text) == told
    spent = f"time spent in: freeing objects {0.9 * seconds:.1f}"
    assert (spent in text) == (not told)
    assert told or "0.5" not in text.partition("time spent in:")[2]  # too little to be named


@pytest.mark.parametrize(("other_ms", "called"), [(4000.0, "mostly freeing objects 4,000 ms"), (0.0, "")])
def test_a_rest_that_is_freeing_is_called_that(other_ms: float, called: str) -> None:
    work = made({"graph": 6000.0, "other": other_ms}, seconds=(6000.0 + other_ms) / 1e3)
    text = " ".join(line.plain for line in work_lines([work], {}, Screen(width=200)))
    assert called in text and ("freeing" in text) == bool(called)
    still = msgspec.structs.replace(work, spent_s={"graph": 10.0})
    assert "freeing" not in " ".join(line.plain for line in work_lines([still], {}, Screen(width=200)))
