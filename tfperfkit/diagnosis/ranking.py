"""The order of findings: what fixing them gains, the most first."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.model import Finding

_SEVERITY = {"high": 0, "medium": 1, "low": 2, "info": 3}


def gain(finding: Finding) -> float:
    """The share of the steady step's time (0 to 1) that fixing it should save."""
    if finding.predicted_speedup is not None and finding.predicted_speedup > 1:
        return 1 - 1 / finding.predicted_speedup
    return 0.0


def rank(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Costliest first. A mere "info" stands after everything that asks for a change; ties keep their order."""
    return tuple(
        sorted(findings, key=lambda f: (f.severity == "info", -gain(f), -f.share_of_step, _SEVERITY[f.severity]))
    )
