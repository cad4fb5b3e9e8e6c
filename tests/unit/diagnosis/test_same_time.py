"""Findings that would own the same time of the run are one."""

from __future__ import annotations

from typing import Any

import pytest
from finding_builder import finding

from tfperfkit.diagnosis.same_time import fold_same_time
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.remedy import CallDirectly, Every, Hoist, Remedy

FILE = "train.py"


def entry(line: int, activity: str, seconds: float, part: str = "between") -> Entry:
    frames = (Frame(FILE, 1, "<module>", 1), Frame(FILE, 2, "main", line))
    return Entry(Stack(frames, "tensorflow", activity), part, seconds)


LEDGER = Ledger(
    [entry(5, "tracing", 3.0, "tracing"), entry(5, "saving", 2.0, "saving"), entry(6, "graph", 4.0, "training")],
    {"imports": 1.0},
)
EVERY = frozenset(range(3))


def claim(code: str, seconds: float, line: int, remedy: Remedy, **fields: Any) -> Finding:
    share = seconds / LEDGER.total
    where = (SourceSpan(FILE, line),)
    return finding(code, share, where=where, remedy=remedy, share_of_run=share, **fields)


def fold(*ranked: Finding) -> list[str]:
    return [item.code for item in fold_same_time(ranked, LEDGER, lambda item: EVERY)]


def test_two_that_claim_one_call_are_one_and_the_first_names_the_other() -> None:
    saves = claim("STP001", 5.0, 5, Every("save"), family="step")
    traces = claim("RET012", 3.0, 5, Hoist("value"), family="retrace")
    assert fold(saves, traces) == ["STP001"]
    (kept,) = fold_same_time([saves, traces], LEDGER, lambda item: EVERY)
    assert "Also explains: RET012 (t" in kept.detail


@pytest.mark.parametrize("severity", ["high", "info"])
def test_those_that_fit_into_what_their_calls_took_stay_two(severity: Any) -> None:
    saves = claim("STP001", 5.0, 5, Every("save"), family="step")
    other = claim("GRF001", 3.0, 6, Every("work"), family="graph")
    assert fold(saves, other) == ["STP001", "GRF001"], "other calls"
    less = claim("RET012", 1.0, 5, Hoist("value"), family="retrace")
    half = claim("STP001", 3.5, 5, Every("save"), family="step")
    assert fold(half, less) == ["STP001", "RET012"], "4.5 of the 5 seconds"
    remark = claim("RET012", 3.0, 5, Hoist("value"), family="retrace", severity=severity)
    assert len(fold(saves, remark)) == (2 if severity == "info" else 1)


def test_a_remedy_that_keeps_computing_does_not_own_it() -> None:
    direct = claim("EAG004", 4.0, 6, CallDirectly("predict"), family="eager")
    work = claim("GRF001", 4.0, 6, Every("work"), family="graph")
    assert fold(work, direct) == ["GRF001", "EAG004"]
