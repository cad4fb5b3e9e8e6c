"""What a rule says of the step is said of the work that it was asked about."""

from __future__ import annotations

from typing import Any

import pytest

from tfperfkit.diagnosis.work_words import in_words_of
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Unit

LOOP = Unit("an iteration", "the iteration", "the loop at infer.py:40")
CALL = Unit("the call at hail.py:22", "the call", "the call at hail.py:22")


def finding(title: str, **fields: Any) -> Finding:
    figures = {"share_of_step": 0.5, "where": (), "evidence": (), "advice": ""}
    return Finding(code="INP004", family="input", severity="low", title=title, **(figures | fields))


def told(title: str, unit: Unit) -> str:
    return in_words_of(finding(title), unit).title


@pytest.mark.parametrize(
    ("title", "of_loop", "of_call"),
    [
        (
            "No batch is prepared while the step computes",
            "No batch is prepared while the iteration computes",
            "No batch is prepared while the call computes",
        ),
        ("The step waits for its input", "The iteration waits for its input", "The call waits for its input"),
        (
            "72 % of a step is sleeping",
            "72 % of an iteration is sleeping",
            "72 % of the call at hail.py:22 is sleeping",
        ),
        ("x.npz is loaded at every step", "x.npz is loaded at every iteration", "x.npz is loaded at the call"),
        ("time per step", "time per iteration", "time in the call"),
        ("share of step", "share of the iteration", "share of the call"),
        ("inside the training loop", "inside the loop at infer.py:40", "inside the call at hail.py:22"),
    ],
)
def test_phrases(title: str, of_loop: str, of_call: str) -> None:
    assert (told(title, LOOP), told(title, CALL)) == (of_loop, of_call)


@pytest.mark.parametrize(
    "title", ["Keras' compiled step", "step(batch) is called", "steps 3 to 5", "every hundredth step"]
)
def test_what_is_no_word_for_the_work_stays(title: str) -> None:
    assert told(title, LOOP) == title


def test_evidence_and_advice_too() -> None:
    evidence = (Measurement("waiting for input, of the step", 0.5, "share", "breakdown"),)
    made = finding(
        "t",
        evidence=evidence,
        advice="Prepare batches while the step computes.",
        detail="Then the step takes as long as the slower of the two.",
    )
    found = in_words_of(made, LOOP)
    assert [item.name for item in found.evidence] == ["waiting for input, of the iteration"]
    assert (found.advice, found.detail) == (
        "Prepare batches while the iteration computes.",
        "Then the iteration takes as long as the slower of the two.",
    )
