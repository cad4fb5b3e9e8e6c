"""Waiting and computing by the processor time that samples carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tfperfkit.diagnosis.headline import headline
from tfperfkit.diagnosis.rank_samples import sampled
from tfperfkit.model import StepAccount
from tfperfkit.rule import Evidence
from tfperfkit.testing import even_steps, evidence_of

MS = 1_000_000
STACKS: list[Any] = [["stack", 1, [], "tensorflow", "graph", ""], ["stack", 2, [], "", "python", ""]]


def taken(steps: int, *, used: int, threads: Sequence[Any] = ()) -> dict[str, list[Any]]:
    """Steps of 40 ms: 10 ms of Python, then 30 ms in a compiled function, of which ``used`` ms on a processor."""
    rows, cpu = list(STACKS), 0
    for number in range(steps):
        for part in range(4):
            cpu += 10 * MS if part == 0 else used * MS // 3
            rows.append(["s", (40 * number + 10 * (part + 1)) * MS - 1, 2 if part == 0 else 1, 7, cpu])
    return {"samples": rows, "threads": list(threads)}


def test_a_process_without_a_processor_waits() -> None:
    found = sampled(evidence_of(steps=even_steps(40, 40 * MS), records=taken(40, used=15)))
    assert found is not None
    assert (found.compute_share, found.stretched) == (pytest.approx(0.5), 1.0)
    assert set(found.own_ms) == {0, 1, 2, 3}
    assert all(own == pytest.approx(25, abs=2) for own in found.own_ms.values())


def test_ready_threads_compute() -> None:
    threads = [[100 * MS, 0, 0], [1500 * MS, 300 * MS, 300 * MS]]
    found = sampled(evidence_of(steps=even_steps(40, 40 * MS), records=taken(40, used=9, threads=threads)))
    assert found is not None
    assert (found.compute_share, found.stretched) == (pytest.approx(0.6), 2.0)


def test_a_rank_that_waits_is_not_said_to_compute() -> None:
    """Waiting for the others passes in a compiled function."""

    def made(used: int) -> Evidence:
        account = StepAccount(steps=40, mean_ms=40.0, ordinary_ms=40.0, parts_ms={"graph": 39.0, "python": 1.0})
        return evidence_of(steps=even_steps(40, 40 * MS), account=account, records=taken(40, used=used))

    waits = made(used=6)
    assert headline((), waits, with_others=True).startswith(
        "No fault found in this process: 78 % of a step it waits for other processes, in a compiled function"
    )
    assert "computing in compiled functions" in headline((), waits)
    assert "98 % of a step is computing in compiled functions" in headline((), made(used=24), with_others=True)


def test_a_collection_that_let_nobody_sample_is_the_ranks_own() -> None:
    records = taken(40, used=0)
    kept = [row for row in records["samples"] if row[0] != "s" or not 100 * MS <= row[1] < 200 * MS]
    whole = [(100 * MS, 200 * MS)]
    found = sampled(evidence_of(steps=even_steps(40, 40 * MS), records={"samples": kept}, collections=whole))
    assert found is not None and found.own_ms[0] > 1.5 * found.own_ms[2]
    silent = sampled(evidence_of(steps=even_steps(40, 40 * MS), records={"samples": kept}))
    assert silent is not None and silent.own_ms[0] == pytest.approx(found.own_ms[2], abs=2)


def test_a_ten_without_near_samples_is_left_out() -> None:
    records = taken(40, used=15)
    far = [row for row in records["samples"] if row[0] != "s" or not 350 * MS <= row[1] < 770 * MS]
    found = sampled(evidence_of(steps=even_steps(40, 40 * MS), records={"samples": far}))
    assert found is not None and 1 not in found.own_ms


@pytest.mark.parametrize(
    "rows", [[], STACKS, [["s", "x", 1, 7, 3], "s", ["s"], None], [["s", n * MS, 1, 7] for n in range(99)]]
)
def test_what_can_not_be_told(rows: list[Any]) -> None:
    assert sampled(evidence_of(steps=even_steps(40, 40 * MS), records={"samples": rows})) is None
