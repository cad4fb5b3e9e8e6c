"""Passes over a dataset that the script makes itself, next to and within its training loop, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_probes.input.model import InputData, Pipeline
from tfperfkit_rules.measures.own_passes import in_pass
from tfperfkit_rules.step.own_validation import validated_by_hand
from tfperfkit_rules.step.side_work import hot_path

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence

SOURCE = """\
import tensorflow as tf
def score(data):
    for x, y in data:
        metric(y, forward(x))

for epoch in range(9):
    for x, y in train:
        learn(x, y)
    score(held)
"""
WITHIN = SOURCE.replace("    score(held)", "        score(held)")
CALL = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
EPOCHS, TRAIN, PASS = ({"file": FILE, "line": line} for line in (6, 7, 3))


def evidence(
    source: str = SOURCE, *, each_ms: int = 60, shared: tuple[int, ...] = (), called: str = CALL, fetches: bool = True
) -> Evidence:
    """Nine epochs of ten steps of 10 ms, each followed by a pass; where the source says so, each step of two."""
    within = source.splitlines()[8].startswith("        ")
    steps, taken, when = [], [], 0
    for number in range(90 if not within else 45):
        begin = when
        taken += [(when + n * MS, 1) for n in range(0, 10, 2)]
        when += 10 * MS
        if within:
            taken += [(when + n * MS, 2) for n in range(0, each_ms, 2)]
            when += each_ms * MS
        steps.append(Step(number + 1, begin, when, window="clean"))
        if not within and number % 10 == 9:
            taken += [(when + n * MS, 2) for n in range(0, each_ms, 2)]
            when += each_ms * MS
    stacks = {
        1: Stack((Frame(FILE, 1, "<module>", 8, None, (CALL,)),), "tensorflow", "graph"),
        2: Stack((Frame(FILE, 1, "<module>", 9), Frame(FILE, 2, "score", 4, None, (called,))), "tensorflow", "graph"),
    }
    log = SampleLog(stacks, taken)
    around = [EPOCHS, TRAIN] if within else [EPOCHS]
    rows: list[dict[str, Any]] = [
        {"id": 1, "kind": "next", "target": 0, "file": FILE, "line": 7, "loops": [EPOCHS, TRAIN]},
        {"id": 2, "kind": "call", "target": 1, "file": FILE, "line": 8, "loops": [EPOCHS, TRAIN]},
        {"id": 3, "kind": "next", "target": 0, "file": FILE, "line": 3, "loops": [*around, PASS]},
    ]
    pipeline = Pipeline(
        stages=(),
        file=FILE,
        line=7,
        function="",
        role="training",
        in_training=True,
        shared=tuple(SourceSpan(FILE, line) for line in shared),
    )
    return make_evidence(
        parts_ms={"graph": 10.0},
        steps=StepTable(steps=tuple(steps), source="custom"),
        source=source,
        log=log,
        samples=log.samples([(0, when)]),
        records={
            "sites": rows if fetches else rows[1:2],
            "markers": [[2, step.begin_ns, step.begin_ns + MS, 1] for step in steps],
        },
        data={"input": InputData(pipelines=(pipeline,))},
        wall_s=when / 1e9,
    )


def test_validation_by_hand_after_each_epoch() -> None:
    (found,) = validated_by_hand(evidence())
    assert (found.code, found.title) == ("STP006", "Validation after each epoch takes 38 % of the run")
    assert found.where == (SourceSpan(FILE, 4, "score"), SourceSpan(FILE, 3, "score"))
    assert found.basis == "run" and "every fifth epoch" in found.advice


def test_a_pass_over_the_training_data_is_not_needed() -> None:
    (found,) = validated_by_hand(evidence(shared=(7, 3)))
    assert found.code == "STP011" and found.where[-1] == SourceSpan(FILE, 7)
    assert "in the training step" in found.advice and (found.gain.likely or 0) > 1.5
    (other,) = validated_by_hand(evidence(shared=(3, 20)))
    assert other.code == "STP006"


def test_a_pass_that_only_counts_the_training_data() -> None:
    (found,) = validated_by_hand(evidence(shared=(7, 3), called="builtins:sum"))
    assert found.code == "STP011" and "computes nothing" in found.title and "cardinality" in found.advice
    assert found.where == (SourceSpan(FILE, 3, "score"), SourceSpan(FILE, 7))


def test_within_the_training_loop_it_is_on_the_way_of_the_steps() -> None:
    given = evidence(WITHIN)
    assert not list(validated_by_hand(given))
    (found,) = hot_path(given)
    assert found.code == "STP001" and found.title.startswith("Evaluating takes 83 % of the training loop")


@pytest.mark.parametrize(
    "given",
    [
        evidence(each_ms=6),
        evidence(called="csv:reader"),
        evidence(SOURCE.replace("forward(x)", "grow(x)") + "def grow(x):\n    with tf.GradientTape(): pass\n"),
    ],
    ids=["short", "nothing computed", "gradients"],
)
def test_it_stays_silent(given: Evidence) -> None:
    assert not list(validated_by_hand(given))
    assert all(in_pass(given, stack, within_steps=True) is None for stack in given.samples.stacks)


@pytest.mark.parametrize(("inside", "told"), [("said = {}", 1), ("said = [{} for row in rows]", 0)])
def test_a_callback_that_predicts_at_the_end_of_each_epoch(inside: str, told: int) -> None:
    source = "class Table(Callback):\n    def on_epoch_end(self, epoch, logs=None):\n        "
    source += inside.format("self.model.predict(x)") + "\n\n\n\n\nmodel.fit(x, y)\n\n"
    given = evidence(source, fetches=False)
    fit = Frame(FILE, 1, "<module>", 8, None, ("keras.src.backend.tensorflow.trainer:fit",))
    predict = Frame(FILE, 2, "on_epoch_end", 3, None, ("keras.src.backend.tensorflow.trainer:predict",))
    stacks = {1: Stack((fit,), "keras", "graph"), 2: Stack((fit, predict), "keras", "graph")}
    numbers = {"<module>": 1, "score": 2}
    taken = [(when, numbers[stack.frames[-1].name]) for when, stack in given.log.inside(given.log.whole)]
    given.log = SampleLog(stacks, taken)
    found = list(validated_by_hand(given))
    assert len(found) == told
    if told:
        assert (found[0].code, found[0].where) == ("STP006", (SourceSpan(FILE, 3, "on_epoch_end"),))
