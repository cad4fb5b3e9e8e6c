"""The end of the report of several ranks: what to fix first, on one screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tfperfkit.gain import AtLeast
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.ranks.command import lines
from tfperfkit.ranks.part import Part
from tfperfkit.ranks.parts import whole
from tfperfkit.ranks.verdict import verdict_lines
from tfperfkit.report.terminal import Screen
from tfperfkit.report.verdict.block import HEIGHT

FOLDER = Path("runs/7")


def finding(code: str, title: str, line: int = 30, share: float = 0.7) -> Finding:
    return Finding(
        code=code,
        family="step",
        title=title,
        severity="high",
        share_of_step=share,
        gain=AtLeast(1.2),
        where=(SourceSpan("train.py", line),),
        evidence=(Measurement("time at these lines", 20.0, "ms"),),
        advice="Remove it. Or: do it less often.",
    )


def part(rank: int, inside_ms: float, *findings: Finding, **more: Any) -> Part:
    """Return a rank with steps of 28 ms, whose time outside of compiled functions is Python unless ``more`` says
    otherwise."""
    given = {"outside_ms": {"python": 28 - inside_ms}, "status": "finished", "size": 2, "steps": 100, **more}
    times = {"step_ms": 28.0, "turn_ms": 28.0, "inside_ms": inside_ms, "clean": 100}
    return Part(name=f"rank-{rank:04}", rank=rank, findings=findings, **times, **given)


def verdict(*parts: Part, width: int = 80) -> list[str]:
    return [line.plain for line in verdict_lines(whole(Path("/nowhere"), parts), FOLDER, Screen(width=width))]


def test_the_late_rank_comes_first_with_its_reason_and_line() -> None:
    shared = finding("INP001", "Input takes 20 % of the step", 12, 0.2)
    shown = verdict(part(0, 28, shared), part(1, 8, finding("STP004", "time.sleep takes 70 % of the step"), shared))
    assert shown[0] == "tfperf · 2 ranks · 28.0 ms a step"
    assert shown[2] == "FIX FIRST   Rank 1 reaches the gradient exchange late  DST008"
    text = " ".join(line.strip() for line in shown)
    assert "change    Move what this rank alone does out of the step" in text and "at        train.py:30" in text
    assert "gain      predicted: training loop 2.2x faster (1.6x-3.5x)" in text
    assert "cost      The others wait 20.0 ms of a step (71 %) for rank 1: its Python takes longer: time.sleep" in text
    assert "THEN        2. Input takes 20 % of the step  INP001" in text and "on all ranks" in text
    assert "3. " not in text  # it is the reason
    assert "tfperf report runs/7/rank-0001 --full" in text and "tfperf explain DST008" in text


def test_without_a_late_rank_the_finding_that_most_ranks_have_comes_first() -> None:
    alone, shared = finding("STP004", "time.sleep takes 10 % of the step", 30, 0.1), finding("INP001", "Input waits")
    shown = verdict(part(0, 28, alone, shared), part(1, 28, shared))
    assert shown[2] == "FIX FIRST   Input waits  INP001" and "  ranks     all ranks" in shown
    assert (
        any(line == "THEN        2. time.sleep takes 10 % of the step  STP004" for line in shown)
        and "              on rank 0" in shown
    )


def test_a_late_rank_without_a_known_cause_is_no_cause() -> None:
    shown = verdict(part(0, 28), part(1, 8, outside_ms={"python": 7.0, "saving": 6.5, "gc": 6.5}))
    assert shown[2].startswith("NO CAUSE FOUND   Rank 1 reaches") and "  gain      not predicted" in shown


def test_ranks_that_died_or_are_missing_stand_before_all_else() -> None:
    shown = verdict(
        part(0, 28, finding("INP001", "Input waits"), size=3),
        part(1, 28, status="killed", exit_code=137, size=3),
    )
    assert shown[2].startswith("No part of rank 2") and shown[3].startswith("Did not finish: rank 1 was ended by")
    assert shown[5].startswith("FIX FIRST")


def test_nothing_found_is_said() -> None:
    assert "NO CAUSE FOUND   no rank is known to be late, and no rank has a finding" in verdict(
        part(0, 28), part(1, 28)
    )
    assert any("no training steps were found" in line for line in verdict(part(0, 28, steps=0), part(1, 28, steps=0)))


@pytest.mark.parametrize("count", [0, 1, 9])
def test_it_fits_on_one_screen_and_is_the_end_of_the_report(count: int) -> None:
    many = [finding(f"STP{number:03}", f"Cause {number} " * 4) for number in range(count)]
    ranks = [msgspec.structs.replace(part(rank, 28 - 20 * (rank == 3), *many), size=9) for rank in range(4)]
    shown = verdict(*ranks)
    assert len(shown) <= HEIGHT and max(map(len, shown)) <= 80
    made = whole(Path("/nowhere"), tuple(ranks))
    assert [line.plain for line in lines(made, FOLDER, Screen(width=80))][-len(shown) :] == shown
