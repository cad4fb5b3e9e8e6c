"""The script's own Python between the steps, as between two epochs, on made-up evidence."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_rules.step.python_between import between_steps

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

SOURCE = """\
import json
import time
from scipy import ndimage
def turned(images):
    out = []
    for image in images:
        out.append(ndimage.rotate(image, 5))
    return out

for epoch in range(9):
    rows = turned(images)
    for x, y in rows:
        learn(x, y)
"""
SCIPY = ("scipy.ndimage._interpolation:rotate",)


def evidence(
    *, each_ms: int = 60, line: int = 7, called: tuple[str, ...] = SCIPY, activity: str = "python", source: str = SOURCE
) -> Evidence:
    """Nine epochs of ten steps of 10 ms, with something between them."""
    steps, taken, when = [], [], 0
    for number in range(90):
        begin = when
        taken += [(when + n * MS, 1) for n in range(0, 10, 2)]
        when += 10 * MS
        steps.append(Step(number + 1, begin, when, window="clean"))
        if number % 10 == 9:
            taken += [(when + n * MS, 2) for n in range(0, each_ms, 2)]
            when += each_ms * MS
    stacks = {
        1: Stack((Frame(FILE, 1, "<module>", 13),), "tensorflow", "graph"),
        2: Stack((Frame(FILE, 1, "<module>", 11), Frame(FILE, 4, "turned", line, None, called)), "", activity),
    }
    log = SampleLog(stacks, taken)
    return make_evidence(
        parts_ms={"graph": 10.0},
        steps=StepTable(steps=tuple(steps), source="custom"),
        source=source,
        log=log,
        samples=log.samples([(step.begin_ns, step.end_ns) for step in steps]),
        wall_s=when / 1e9,
    )


def test_what_is_prepared_for_each_epoch_between_the_steps() -> None:
    (found,) = between_steps(evidence())
    assert found.code == "LIN001" and "in turned, between the steps, takes" in found.title
    assert found.where == (SourceSpan(FILE, 7, "turned"), SourceSpan(FILE, 11))
    assert found.share_of_step == pytest.approx(0.3, abs=0.05)
    assert found.gain.bounds is not None and found.gain.bounds[1] < 1.7


def test_what_takes_little_waits_or_writes_is_not_it() -> None:
    assert not list(between_steps(evidence(each_ms=4)))
    pause = SOURCE.replace("out.append(ndimage.rotate(image, 5))", "time.sleep(0.01)")
    assert not list(between_steps(evidence(source=pause, called=())))
    writes = SOURCE.replace("out.append(ndimage.rotate(image, 5))", "print(image)")
    assert not list(between_steps(evidence(source=writes, called=())))
    assert not list(between_steps(evidence(activity="graph")))
    assert not list(between_steps(evidence(activity="dispatch")))
