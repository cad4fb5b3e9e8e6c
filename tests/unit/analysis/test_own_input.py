"""A rank whose compiled step fetches its batch itself: what passes there is waiting for input, as its pipeline's pace
tells."""

from __future__ import annotations

from typing import Any

import pytest
from concluded import headline

from tfperfkit.analysis.gather import with_own_input
from tfperfkit.diagnosis.rank_samples import sampled
from tfperfkit.model import StepAccount
from tfperfkit.offers import InputPace, StepBreakdown
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence
from tfperfkit.testing import evidence_of

MS = 1_000_000
STEP_MS, PYTHON_MS, BUSY_MS = 40, 4, 6  # 30 ms of a step the process uses no processor, in a compiled function


def rank(pace_ms: float | None, *, fetched_ns: int = 0, trace: bool = False) -> Evidence:
    rows: list[Any] = [["stack", 1, [], "tensorflow", "graph", ""], ["stack", 2, [], "", "python", ""]]
    cpu = 0
    for number in range(40):
        for part in range(10):
            cpu += round(4 * MS if part == 0 else BUSY_MS / 9 * MS)
            rows.append(["s", (STEP_MS * number + 4 * (part + 1)) * MS - 1, 2 if part == 0 else 1, 7, cpu])
    steps = [
        Step(
            number=n,
            begin_ns=n * STEP_MS * MS,
            end_ns=(n + 1) * STEP_MS * MS,
            count=1,
            window="clean",
            input_ns=fetched_ns,
        )
        for n in range(40)
    ]
    parts = {"graph": float(STEP_MS - PYTHON_MS), "python": float(PYTHON_MS)}
    offers: dict[str, list[Any]] = {"input": [InputPace(ms_per_step=pace_ms)] if pace_ms is not None else []}
    if trace:
        offers["tfprof"] = [StepBreakdown(parts_ms=parts, steps=12)]
    made = evidence_of(
        steps=StepTable(steps=tuple(steps)),
        account=StepAccount(steps=40, mean_ms=40.0, ordinary_ms=40.0, parts_ms=parts),  # type: ignore[arg-type]
        records={"samples": rows},
        offers=offers,
    )
    made.account = with_own_input(made)
    return made


def waits(evidence: Evidence) -> float:
    assert evidence.account is not None
    assert sum(evidence.account.parts_ms.values()) == pytest.approx(evidence.account.mean_ms)
    assert evidence.account.parts_ms.get("input", 0.0) == evidence.account.input_in_graph_ms
    return evidence.account.input_in_graph_ms


def test_a_pipeline_that_takes_the_step_is_what_it_waits_for() -> None:
    found = rank(40.0)
    assert waits(found) == pytest.approx(30, abs=0.5)
    seen = sampled(found)
    # All of the step is its own: it comes last to the exchange, and waits for nobody in it.
    assert seen is not None and seen.compute_share == pytest.approx(1.0, abs=0.02)
    assert all(own == pytest.approx(40, abs=1) for own in seen.own_ms.values())
    assert "waits for other processes" not in headline((), found, with_others=True)


def test_a_pipeline_that_is_a_little_quicker_leaves_the_rest_to_the_exchange() -> None:
    assert waits(rank(36.0)) == pytest.approx(26, abs=0.5)


@pytest.mark.parametrize(
    "evidence",
    [
        rank(5.0),  # it is quick: the process waits for others
        rank(None),  # not measured
        rank(40.0, fetched_ns=1000),  # Python fetches, so its waiting was timed
        rank(40.0, trace=True),  # the trace tells
    ],
)
def test_else_it_waits_for_other_processes(evidence: Evidence) -> None:
    assert waits(evidence) == 0.0
    assert "waits for other processes" in headline((), evidence, with_others=True)
