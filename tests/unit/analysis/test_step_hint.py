"""The hint for --steps-from, from samples of the whole run."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence

from tfperfkit.analysis.step_summary import step_hint
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
    return step_hint(make_evidence(source=SOURCE, log=log))


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
