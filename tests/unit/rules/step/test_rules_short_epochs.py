"""STP010 on made steps and samples."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_rules.step.short_epochs import short_epochs

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

CALL = "net.fit(images, y=labels, epochs=300)"
FIT = ("keras.src.backend.tensorflow.trainer:fit", "keras.src.backend.tensorflow.trainer:__next__")


def fitted(
    each: int,
    between_ms: int,
    epochs: int = 30,
    context: str = "",
    source: str = "keras",
    call: str = CALL,
    between: str = "eager_ops",
) -> Evidence:
    """``epochs`` of ``each`` steps of 2 ms, 0.1 ms apart, with a pause between epochs that is sampled each 5 ms."""
    steps, taken, when = [], [], 0
    for number in range(each * epochs):
        steps.append(Step(number + 1, when, when + 2 * MS, 1, 0, "clean"))
        taken.append((when + MS, 1))
        when += 2 * MS + MS // 10
        if (number + 1) % each == 0:
            taken += [(when + n * MS, 2) for n in range(0, between_ms, 5)]
            when += between_ms * MS
    frame = (Frame(FILE, 2, "<module>", 2, None, FIT),)
    stacks = {1: Stack(frame, "keras", "graph"), 2: Stack(frame, "keras", between, context)}
    return make_evidence(
        parts_ms={"graph": 2.0},
        steps=StepTable(steps=tuple(steps), source=source),
        source=f"import keras\n{call}\n",
        log=SampleLog(stacks, taken),
        wall_s=when / 1e9 + 1,
    )


@pytest.mark.parametrize("each", [1, 2, 3, 10])
def test_short_epochs_cost_what_lies_between_them(each: int) -> None:
    (finding,) = short_epochs(fitted(each, 50))
    assert (finding.code, finding.basis, finding.where[0]) == ("STP010", "run", SourceSpan(FILE, 2))
    assert finding.title.startswith(f"Model.fit epochs have only {each} step")
    rows = {row.name: row.value for row in finding.evidence}
    assert rows["time between two epochs"] == pytest.approx(50, rel=0.1) and rows["pauses between epochs"] == 29
    times = -(-100 // each)
    data = f"tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(len(images)).batch(32).repeat({times})"
    assert f"data = {data}, then fit(data, epochs={round(300 / times)})" in finding.advice
    low, high = finding.gain.bounds or (0, 0)
    assert 1 < low < high <= 1 / (1 - finding.share_of_step) + 0.5


def test_long_epochs_and_few_are_left_in_peace() -> None:
    assert not list(short_epochs(fitted(500, 50, epochs=5)))
    assert not list(short_epochs(fitted(3, 50, epochs=3)))


def test_what_callbacks_and_validation_take_is_not_kerass() -> None:
    assert not list(short_epochs(fitted(3, 50, context="callback")))
    assert not list(short_epochs(fitted(3, 50, context="evaluate")))
    assert not list(short_epochs(fitted(3, 50, source="custom")))


def test_the_advice_repeats_a_dataset() -> None:
    (finding,) = short_epochs(fitted(4, 50, call="net.fit(batches, epochs=EPOCHS)"))
    assert "data = batches.repeat(25), then fit(data, epochs=EPOCHS // 25)" in finding.advice


def test_time_in_which_iterators_are_destroyed_is_not_kerass() -> None:
    assert not list(short_epochs(fitted(3, 50, between="waiting")))
