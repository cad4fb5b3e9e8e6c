"""Exact times of lines next to stack samples."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence, make_samples
from tfperfkit_rules.measures.step_shares import find_part, find_timed_share

from tfperfkit.offers import LineCost, LineCosts
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence

MAKING, AROUND = (FILE, 6), (FILE, 3)


def made(**costs: float) -> Evidence:
    """Return a step of 100 ms in which 12 of 20 samples fall on line 6, below line 3; exact times by line."""
    rows = tuple(
        LineCost(file=FILE, line=int(line.removeprefix("line_")), function="f", ms_per_step=ms)
        for line, ms in costs.items()
    )
    around, making, step = (Frame(FILE, 1, "f", line) for line in (3, 6, 7))
    samples = make_samples([(12, "dispatch", [around, making]), (8, "graph", [around, step])])
    return make_evidence(
        parts_ms={"dispatch": 60.0, "graph": 40.0}, samples=samples, offers={"lines": (LineCosts(rows=rows),)}
    )


def test_code_that_holds_the_lock_takes_from_its_sampled_share_to_the_timed_one() -> None:
    evidence = made(line_3=120.0, line_6=110.0)
    part = find_part(evidence, {"dispatch": 12}, [MAKING])
    assert part.likely == pytest.approx(110 / 120)
    assert part.low == pytest.approx(0.58) and part.high >= 110 / 120


def test_a_line_that_was_not_timed_has_the_samples_interval() -> None:
    evidence = made(line_3=120.0)
    assert find_timed_share(evidence, [MAKING]) is None
    assert find_part(evidence, {"dispatch": 12}, [MAKING]).likely is None


def test_the_time_of_a_line_that_calls_user_code_is_not_its_own() -> None:
    assert find_timed_share(made(line_3=120.0, line_6=110.0), [AROUND]) is None
