"""The rule on made-up evidence."""

from __future__ import annotations

import pytest
from probe_hello.analysis import Generation, HelloData
from probe_hello.rules import RULES, by_hand

from tfperfkit.rule import Evidence
from tfperfkit.testing import even_steps, evidence_of

SOURCE = "import gc\nfor step in range(10):\n    train_step()\n    gc.collect()\n"


def evidence(full: float = 1.0, young: float = 0.5, source: str = SOURCE) -> Evidence:
    rows = [Generation(n, 8, per_step, 1.0, 1.0, 0.1) for n, per_step in enumerate((young, 0.0, full))]
    data = HelloData(collections=24, steps=8, ms_per_step=3.0, generations=rows)
    return evidence_of(steps=even_steps(10, 10_000_000, warmup=2), data={"hello": data}, sources={"train.py": source})


def test_full_collections_instead_of_cheap_ones() -> None:
    (finding,) = by_hand(evidence())
    assert (finding.code, finding.severity, finding.gain.likely) == ("HEL002", "info", None)
    assert [(place.file, place.line) for place in finding.where] == [("train.py", 4)]
    assert {(item.name, item.value, item.window) for item in finding.evidence} == {
        ("full collections per step", 1.0, "baseline"),
        ("younger collections per step", 0.5, "baseline"),
    }


@pytest.mark.parametrize(
    "healthy",
    [
        evidence(full=0.1),
        evidence(young=2.0),
        evidence(source="train()\n"),
        evidence_of(sources={"train.py": SOURCE}),
    ],
)
def test_silent_otherwise(healthy: Evidence) -> None:
    assert not [finding for rule in RULES for finding in rule(healthy)]
