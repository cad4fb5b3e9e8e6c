"""Made findings, and what the rules that are asked last make of evidence and findings."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_rules.step import RULES

from tfperfkit import gain
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.rule import Evidence, LastRule


def finding(code: str, saved: float | None = 0.3, **fields: object) -> Finding:
    known: dict[str, object] = {
        "code": code,
        "family": "step",
        "title": f"The title of {code}",
        "severity": "high",
        "share_of_step": saved or 0.0,
        "gain": gain.Unknown() if saved is None else gain.Range(*3 * (gain.speedup(saved),)),
        "where": (SourceSpan("t.py", 3),),
        "evidence": (Measurement("share", saved or 0.0, "share", "samples"),),
        "advice": "Do it.",
    }
    return Finding(**{**known, **fields})  # type: ignore[arg-type]


def unexplained(evidence: Evidence, findings: Sequence[Finding]) -> list[Finding]:
    """Return what the last rules report of time that these findings don't explain."""
    return [found for rule in RULES if isinstance(rule, LastRule) for found in rule(evidence, findings)]
