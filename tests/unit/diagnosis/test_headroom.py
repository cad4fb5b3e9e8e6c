"""Headroom stands where nothing else asks for a change, the most first, and then has the first line."""

from __future__ import annotations

from typing import Any

from evidence_builder import make_evidence

from tfperfkit.diagnosis.headline import headline
from tfperfkit.diagnosis.headroom import large, split
from tfperfkit.model import Finding, Measurement, SourceSpan


def room(code: str, factor: float | None, **fields: Any) -> Finding:
    given: dict[str, Any] = {"family": "batch", "severity": "info", "headroom": True, **fields}
    return Finding(
        code=code,
        title=f"Choice {code}",
        share_of_step=0.5,
        predicted_speedup=factor,
        where=(SourceSpan("train.py", 7),),
        evidence=(Measurement("step", 1.0, "ms", "baseline"),),
        advice="Try it.",
        **given,
    )


def test_the_largest_comes_first_and_remarks_stay_findings() -> None:
    remark = room("OPS006", None, headroom=False)
    faults, found = split((room("A", 1.3), remark, room("B", 2.0), room("C", None, at_least=1.6)))
    assert faults == (remark,)
    assert [item.code for item in found] == ["B", "C", "A"]


def test_a_finding_that_asks_for_a_change_comes_before_all_of_it() -> None:
    fault = room("INP001", 1.2, headroom=False, severity="high")
    assert split((room("A", 3.0), fault)) == ((fault,), ())


def test_the_first_line_has_it_when_it_is_large() -> None:
    evidence = make_evidence(parts_ms={"graph": 9.0, "python": 1.0})
    assert headline((), evidence, (), (room("A", 2.0), room("B", 1.4))).startswith("No fault found, but room: ")
    assert "Also: " in headline((), evidence, (), (room("A", 2.0), room("B", 1.4)))
    assert not large((room("A", 1.15),))
    assert "computing" in headline((), evidence, (), (room("A", 1.15),))


def test_nothing_to_fix_is_not_said_beside_large_headroom() -> None:
    evidence = make_evidence(parts_ms={"graph": 9.5, "python": 0.5})
    assert "Nothing to fix" not in headline((), evidence, (), (room("A", None, at_least=1.5),))
