"""Whether Python assigns to variables beside compiled functions."""

from __future__ import annotations

from tfperfkit.offers import RanOperations
from tfperfkit.rule import Evidence


def assigns_eagerly(evidence: Evidence) -> bool:
    """Whether the traced steps, or a trace that lay in the work, changed variables beside compiled functions."""
    ran = evidence.offer(RanOperations)
    return ran is not None and any(row.where == "eager" and row.type.startswith("Assign") for row in ran.rows)
