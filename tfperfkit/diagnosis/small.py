"""Findings that are true, but too small to come first."""

from __future__ import annotations

from tfperfkit.gain import MEDIUM, UpTo
from tfperfkit.model import Finding


def is_small(finding: Finding) -> bool:
    """Return whether a finding is a few per cent of a step, of a work or of the run: true, and not what to begin with.
    A risk, and what nobody can predict, is not measured by that."""
    if finding.basis == "risk" or isinstance(finding.gain, UpTo):
        return False
    return 0 < finding.gain.saved < MEDIUM
