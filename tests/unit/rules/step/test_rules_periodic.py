"""Every n-th step that is long, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_account, make_evidence
from tfperfkit_rules.step import periodic
from tfperfkit_rules.step.periodic import period

from tfperfkit.model import Outlier, SourceSpan
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable

CLEAN = range(1, 301)


@pytest.mark.parametrize(
    ("late", "found"),
    [
        (dict.fromkeys(range(5, 300, 25), 50.0), 25),
        ({**dict.fromkeys(range(5, 300, 25), 50.0), 7: 1.0, 133: 1.0}, 25),  # almost nothing else
        ({n: 50.0 for n in range(5, 300, 25) if n != 105}, 25),  # one was short
        (dict.fromkeys(range(5, 300, 50), 50.0), 50),
        ({5: 50.0, 30: 50.0, 55: 50.0}, None),  # too few
        (dict.fromkeys(range(5, 150, 25), 50.0), None),  # of late no more
        (dict.fromkeys((5, 30, 47, 122, 180, 201, 290), 50.0), None),
        (dict.fromkeys(range(2, 300, 2), 50.0), None),
        ({}, None),
    ],
)
def test_the_period_of_long_steps(late: dict[int, float], found: int | None) -> None:
    told = period(late, CLEAN)
    assert (told[0] if told else None) == found


def evidence(cause: Any = "the script's Python", *, line: int = 3, every: int = 25) -> Any:
    """Steps of 2 ms, every 25th of 52, with samples at a line of their own."""
    steps, taken, late, when = [], [], [], 0
    for n in CLEAN:
        long = n % every == 5
        took = (52 if long else 2) * MS
        steps.append(Step(n, when, when + took, window="clean"))
        taken.append((when + MS, 1))
        if long:
            late.append(Outlier(step=n, ms=52.0, excess_ms=50.0, cause=cause, found_ms=50.0))
            taken += [(when + k * 10 * MS, 2) for k in range(1, 5)]
        when += took
    mean = when / len(steps) / MS
    stacks = {
        1: Stack((Frame(FILE, 1, "<module>", 4),), "tensorflow", "graph"),
        2: Stack((Frame(FILE, 1, "<module>", line),), "", "python"),
    }
    return make_evidence(
        account=make_account({"python": mean - 2.0, "graph": 2.0}, steps=300, ordinary_ms=2.0, outliers=tuple(late)),
        steps=StepTable(steps=tuple(steps), source="custom"),
        source="for n in range(300):\n    if n % 25 == 5:\n        near = search(table)\n    step(x)\n",
        log=SampleLog(stacks, taken),
    )


def test_every_25th_step_is_reported_with_its_line() -> None:
    (finding,) = periodic.every_nth(evidence())
    assert (finding.code, finding.where) == ("STP008", (SourceSpan(FILE, 3),))
    assert finding.title == "Every 25th step takes 26 times as long: the script's own Python"
    assert finding.share_of_step == pytest.approx(0.5, abs=0.01)
    assert finding.gain.bounds and finding.gain.bounds[0] < 2 <= finding.gain.bounds[1] < 2.2


def test_what_others_tell_or_no_line_explains_is_left_to_them() -> None:
    assert not list(periodic.every_nth(evidence("input")))
    assert not list(periodic.every_nth(evidence("checkpoint or export")))
    assert not list(periodic.every_nth(evidence(line=4)))  # as all other steps
