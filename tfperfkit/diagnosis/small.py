"""What is true, and too little to begin with."""

from __future__ import annotations

from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding


def is_small(finding: Finding) -> bool:
    """A few per cent of a step, of a work or of the run: true, and not what to begin with. A risk, and what nobody can
    predict, is not measured by that."""
    if finding.basis == "risk" or (finding.ceiling is not None and finding.predicted_speedup is None):
        return False
    return 0 < worth(finding) < MEDIUM


def worth(finding: Finding) -> float:
    """The share of its step, work or run that fixing a finding saves; 0 where that is not known."""
    factor = finding.predicted_speedup if finding.predicted_speedup is not None else finding.at_least
    return 1 - 1 / factor if factor is not None and factor > 1 else 0.0
