"""EAG017: the same data predicted again, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence, make_steps, one
from tfperfkit_probes.input.model import AskedAgain, InputData
from tfperfkit_rules.eager.asked_again import same_again
from work_builder import PREDICT, frame, sampled, work_evidence

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

SOURCE = """\
import keras
def f1(threshold):
    score = model.predict(pictures)
    return score > threshold
for threshold in thresholds:
    f1(threshold)
"""


def row(**fields: Any) -> AskedAgain:
    about = {"way": "predict", "file": FILE, "line": 3, "function": "f1", "calls": 40, "repeats": 39}
    return AskedAgain(**{**about, "seconds": 8.0, "in_vain": 7.8, "begin_ns": 0, "end_ns": 10**10, **fields})


def swept(*rows: AskedAgain, source: str = SOURCE, of_the_call: int = 190) -> Evidence:
    called = frame(6), frame(3, PREDICT, name="f1")
    return work_evidence(
        source,
        [
            sampled(of_the_call, "graph", *called, context="evaluate"),
            sampled(200 - of_the_call, "python", frame(6), frame(4, name="f1")),
        ],
        loop=5,
        iterations=40,
        data={"input": InputData(asked_again=rows)},
    )


def test_a_sweep_that_predicts_each_time() -> None:
    found = one(same_again(swept(row())))
    assert found.title == "model.predict repeated on the same data and weights, 40 calls"
    assert (found.code, found.where[0]) == ("EAG017", SourceSpan(FILE, 3, "f1"))
    assert found.share_of_step == pytest.approx(0.95 * 7.8 / 8)
    low, high = found.gain.bounds or (0, 0)
    assert 5 < low < 1 / (1 - 0.926) < high and "Call model.predict once" in found.advice


def test_several_data_sets_in_turn() -> None:
    found = one(same_again(swept(row(repeats=30, in_vain=6.0))))
    assert found.title == "model.predict repeated on the same data and weights, 30 of 40 calls"
    assert "in a dictionary" in found.advice


def test_data_that_another_line_had() -> None:
    found = one(same_again(swept(row(calls=1, repeats=1, in_vain=8.0, before=SourceSpan(FILE, 1)))))
    assert "repeated on the same data and weights as line 1" in found.title and SourceSpan(FILE, 1) in found.where
    assert found.advice == "Keep the result of line 1 and use it here."


def test_within_training_it_is_of_the_run() -> None:
    steps = make_steps(60)
    data = {"input": InputData(asked_again=(row(begin_ns=300 * MS, end_ns=500 * MS, in_vain=2.0),))}
    found = one(same_again(make_evidence(parts_ms={"graph": 10.0}, steps=steps, source=SOURCE, data=data, wall_s=10.0)))
    assert (found.basis, found.share_of_step) == ("run", 0.2)
    # After the steps it is a work of its own, which the rule is asked about.
    later = {"input": InputData(asked_again=(row(begin_ns=900 * MS, end_ns=950 * MS, in_vain=2.0),))}
    assert not list(same_again(make_evidence(steps=steps, source=SOURCE, data=later, wall_s=10.0)))


@pytest.mark.parametrize(
    "evidence",
    [swept(), swept(row(repeats=10)), swept(row(in_vain=0.2)), swept(row(), of_the_call=8), swept(row(line=4))],
    ids=["nothing known", "mostly new data", "the first took the time", "little", "another line"],
)
def test_it_stays_silent(evidence: Evidence) -> None:
    assert not list(same_again(evidence))
