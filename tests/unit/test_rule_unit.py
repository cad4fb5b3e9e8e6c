"""The words for what an account is of: a training step, an iteration of a loop, or a single call."""

from __future__ import annotations

import pytest

from tfperfkit.rule import Unit

STEP = Unit("a step", "the step", "the training loop")
LOOP = Unit("an iteration", "the iteration", "the loop at infer.py:40")
CALL = Unit("the call at hail.py:22", "the call", "the call at hail.py:22")


@pytest.mark.parametrize(
    ("template", "of_step", "of_loop", "of_call"),
    [
        (
            "No batch is prepared while {0.the} computes",
            "No batch is prepared while the step computes",
            "No batch is prepared while the iteration computes",
            "No batch is prepared while the call computes",
        ),
        ("{0.The} waits", "The step waits", "The iteration waits", "The call waits"),
        (
            "72 % of {0.a} is sleeping",
            "72 % of a step is sleeping",
            "72 % of an iteration is sleeping",
            "72 % of the call at hail.py:22 is sleeping",
        ),
        ("loaded at {0.every}", "loaded at every step", "loaded at every iteration", "loaded at the call"),
        ("{0.Each} is traced", "Each step is traced", "Each iteration is traced", "The call is traced"),
        ("time {0.per}", "time per step", "time per iteration", "time in the call"),
        ("3 times {0.per_a}", "3 times a step", "3 times an iteration", "3 times in the call"),
        (
            "inside {0.loop}",
            "inside the training loop",
            "inside the loop at infer.py:40",
            "inside the call at hail.py:22",
        ),
    ],
)
def test_words_of_a_template(template: str, of_step: str, of_loop: str, of_call: str) -> None:
    assert tuple(map(template.format, (STEP, LOOP, CALL))) == (of_step, of_loop, of_call)
