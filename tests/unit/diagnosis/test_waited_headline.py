"""The first line of a step whose rest nothing explains but waiting: for a processor, or until iterators are freed."""

from __future__ import annotations

from typing import Any

from computed_builder import spread_out
from concluded import headline
from evidence_builder import make_evidence

from tfperfkit.records.conclusion import NEEDED, NO_FAULT


def said(waited: float | None, other: float = 3.0) -> str:
    evidence: Any = make_evidence(parts_ms={"graph": 10.0 - other, "other": other}, offers=spread_out())
    evidence.waited_share = waited
    return headline((), evidence)


def test_what_waited_for_a_processor_is_no_work_of_the_step() -> None:
    assert said(0.4).startswith(f"{NO_FAULT}: {NEEDED}. 70 % of a step is computing")
    assert "30 % is waiting for a processor" in said(0.4)
    assert said(None).startswith("No cause found") and said(0.05).startswith("No cause found")
    assert said(0.4, other=6.0).startswith("No cause found")
