"""STP011: data that fit has just measured, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_probes.input.model import InputData, KerasInput
from tfperfkit_rules.step.measured_again import measured_again

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

SOURCE = """\
import keras
class Scores(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.evaluate(x, y)

model.fit(x, y, epochs=8, validation_data=(held, labels), callbacks=[Scores()])
"""


def given(way: str, line: int, **fields: Any) -> KerasInput:
    about = {"kind": "arrays", "way": way, "validation": False, "file": FILE, "line": line, "function": ""}
    return KerasInput(**{**about, **fields})


FITTED = given("fit", 6, arrays_bytes=1000)
HELD = given("fit", 6, arrays_bytes=300, validation=True)


def evaluated(row: KerasInput, *, source: str = SOURCE, each_ms: int = 100, epochs: int = 8) -> Evidence:
    """Epochs of 100 ms, after each a call that takes this long. A sample every 5 ms."""
    steps, taken, when = [], [], 0
    for epoch in range(epochs):
        steps.append(Step(epoch + 1, when, when + 100 * MS, window="clean"))
        taken += [(when + n * MS, 1) for n in range(0, 100, 5)]
        when += 100 * MS
        taken += [(when + n * MS, 2) for n in range(0, each_ms, 5)]
        when += each_ms * MS
    fit, own = Frame(FILE, 1, "<module>", 6), Frame(FILE, 3, "on_epoch_end", 4)
    stacks = {1: Stack((fit,), "keras", "graph"), 2: Stack((fit, own), "keras", "graph", "evaluate")}
    return make_evidence(
        parts_ms={"graph": 100.0},
        steps=StepTable(steps=tuple(steps), source="keras"),
        source=source,
        log=SampleLog(stacks, taken),
        data={"input": InputData(keras=(FITTED, HELD, row))},
        wall_s=when / 1e9 + 1,
    )


def one(evidence: Evidence) -> Finding:
    (finding,) = measured_again(evidence)
    return finding


def test_the_training_data_are_not_to_be_evaluated_again() -> None:
    found = one(evaluated(given("evaluate", 4, arrays_bytes=1000, times=8)))
    assert (found.code, found.basis, found.where[0]) == ("STP011", "run", SourceSpan(FILE, 4))
    assert found.title == "self.model.evaluate repeats what fit has just measured on the training data"
    assert found.share_of_step == pytest.approx(0.8 / 2.6, abs=0.02)
    low, high = found.gain.bounds or (0, 0)
    assert 1.2 < low < high < 1.7 and "means over the epoch" in found.detail


def test_nor_the_validation_s() -> None:
    source = SOURCE.replace("evaluate(x, y)", "evaluate(held, labels)")
    found = one(evaluated(given("evaluate", 4, arrays_bytes=300, times=8), source=source))
    assert "measured on the validation data" in found.title and 'logs["val_loss"]' in found.advice


def test_one_data_set_is_the_same_by_its_pipeline() -> None:
    fed = given("fit", 6, kind="tf.data", pipeline=0)
    row = given("evaluate", 4, kind="tf.data", pipeline=0, times=8)
    evidence = evaluated(row)
    data = InputData(keras=(fed, row))
    both = make_evidence(
        parts_ms={"graph": 100.0},
        steps=evidence.steps,
        source=SOURCE,
        log=evidence.log,
        data={"input": data},
        wall_s=evidence.run.wall_s,
    )
    assert one(both).code == "STP011"


@pytest.mark.parametrize(
    ("row", "source", "each_ms"),
    [
        (given("evaluate", 4, arrays_bytes=900, times=8), SOURCE, 100),
        (given("evaluate", 4, arrays_bytes=1000, times=2), SOURCE, 100),
        (given("evaluate", 4, arrays_bytes=1000, times=8), SOURCE.replace("evaluate(x", "evaluate(test"), 100),
        (given("evaluate", 4, arrays_bytes=1000, times=8), SOURCE, 10),
        (given("predict", 4, arrays_bytes=1000, times=8), SOURCE, 100),
        (given("evaluate", 4, kind="tf.data", pipeline=2, times=8), SOURCE, 100),
    ],
    ids=["other size", "seldom", "other name", "little", "predict", "other pipeline"],
)
def test_other_data_seldom_calls_and_small_shares_are_left_in_peace(row: KerasInput, source: str, each_ms: int) -> None:
    assert not list(measured_again(evaluated(row, source=source, each_ms=each_ms)))
