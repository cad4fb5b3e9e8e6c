"""The hint for --steps-from, from samples of the whole run."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence

from tfperfkit.analysis.step_table import NO_STEPS
from tfperfkit.analysis.training_hints import describe_missing_steps
from tfperfkit.records.samples import Frame, SampleLog, Stack

SOURCE = """\
def loss(w):
    inner = tape.gradient(u, x)
    return inner

def step(w):
    value = loss(w)
    return tape.gradient(value, w)
"""


def hinted(stacks: list[tuple[Frame, ...]], each: int = 10) -> str:
    log = SampleLog(
        {n: Stack(frames, "tensorflow", "eager_ops") for n, frames in enumerate(stacks)},
        [(at * len(stacks) + n, n) for n in range(len(stacks)) for at in range(each)],
    )
    return describe_missing_steps(make_evidence(source=SOURCE, log=log), "")


STEP = Frame(FILE, 5, "step", 7)
OUTER = (Frame(FILE, 5, "step", 7), Frame(FILE, 1, "loss", 2))


def test_the_outermost_function_that_computes_gradients_is_named() -> None:
    assert hinted([OUTER, (STEP,)]) == "It may be step (train.py:5), which computes gradients."


@pytest.mark.parametrize(
    ("stacks", "each"),
    [
        ([], 10),
        ([(Frame(FILE, 1, "loss", 3),)], 10),
        ([(STEP,)], 2),
        ([(Frame(FILE, 1, "<module>", 7),)], 10),
    ],
)
def test_nothing_is_said_where_nothing_tells(stacks: list[tuple[Frame, ...]], each: int) -> None:
    assert hinted(stacks, each) == ""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import tensorflow as tf\nfor row in rows:\n    print(model.predict(row))\n", False),
        ("import tensorflow as tf\noptimizer.apply_gradients(pairs)\n", True),
        ("import tensorflow as tf\nwith tf.GradientTape() as tape:\n    f(x)\n", True),
        ("import agents\nagents.make('cartpole').learn(1000)\n", True),
        ("import tensorflow as tf\noptimizer = tf.keras.optimizers.Adam()\n", True),
    ],
)
def test_how_to_name_a_step_is_said_only_if_something_hints_at_training(source: str, told: bool) -> None:
    note = describe_missing_steps(make_evidence(source=source), NO_STEPS)
    assert note.startswith(NO_STEPS) and ("--steps-from" in note) is told


def test_what_samples_saw_of_gradients_hints_at_training() -> None:
    frame = Frame(FILE, 1, "<module>", 2, None, ("tensorflow.python.eager.backprop:gradient",))
    log = SampleLog({1: Stack((frame,), "tensorflow", "eager_ops")}, [(at, 1) for at in range(3)])
    made = make_evidence(source="import tensorflow as tf\ncompute(x)\n", log=log)
    assert "--steps-from" in describe_missing_steps(made, NO_STEPS)
