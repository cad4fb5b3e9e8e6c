"""Findings with their measurements; refuted findings go to the end."""

from __future__ import annotations

import msgspec
import pytest

from tfperfkit.diagnosis.proven import proven, refuted
from tfperfkit.gain import Range
from tfperfkit.model import Finding, Measured, SourceSpan
from tfperfkit.records.trials import Verdict


def finding(code: str, line: int, predicted: float = 2.0) -> Finding:
    return Finding(
        code=code,
        family="eager",
        title="t",
        severity="high",
        share_of_step=0.5,
        gain=Range(predicted, predicted, predicted),
        where=(SourceSpan("/a/train.py", line),),
        evidence=(),
        advice="a",
    )


def proof(code: str, line: int, verdict: Verdict, low: float, high: float, **fields: object) -> Measured:
    made = Measured(
        experiment="graph:f",
        keeps="results",
        verdict=verdict,
        speedup=(low + high) / 2,
        interval=(low, high),
        finding=code,
        place=f"/a/train.py:{line}",
    )
    return msgspec.structs.replace(made, **fields)


def test_each_finding_gets_its_own() -> None:
    findings = (finding("EAG001", 3), finding("EAG001", 9), finding("RET001", 3))
    told = proven(findings, [proof("EAG001", 9, "faster", 1.8, 2.2)])
    assert [item.measured is not None for item in told] == [False, True, False]
    assert [item.code for item in told] == ["EAG001", "EAG001", "RET001"]


def test_what_is_refuted_goes_to_the_end() -> None:
    findings = (finding("EAG001", 3), finding("RET001", 9))
    told = proven(findings, [proof("EAG001", 3, "slower", 0.7, 0.9)])
    assert [item.code for item in told] == ["RET001", "EAG001"]


@pytest.mark.parametrize(
    ("verdict", "low", "high", "expected"),
    [
        ("faster", 1.3, 1.5, False),  # less than predicted, and a gain
        ("faster", 1.01, 1.03, True),  # negligible
        ("no difference", 0.9, 1.2, True),  # what was predicted is excluded
        ("no difference", 0.5, 3.0, False),  # they could not tell
        ("slower", 0.5, 0.9, True),
        ("failed", 1.0, 1.0, False),
    ],
)
def test_refuted(verdict: Verdict, low: float, high: float, expected: bool) -> None:
    (told,) = proven([finding("EAG001", 3)], [proof("EAG001", 3, verdict, low, high)])
    assert refuted(told) is expected


def test_a_fix_tells_more_than_a_ceiling() -> None:
    items = [
        proof("EAG001", 3, "faster", 4.0, 5.0, experiment="without:f", keeps="ceiling"),
        proof("EAG001", 3, "faster", 1.5, 1.7, experiment="graph:f"),
        proof("EAG001", 3, "failed", 1.0, 1.0, experiment="jit"),
    ]
    (told,) = proven([finding("EAG001", 3)], items)
    assert told.measured is not None and told.measured.experiment == "graph:f"
