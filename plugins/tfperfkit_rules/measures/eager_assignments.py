"""Assignments to variables by Python, outside of compiled functions."""

from __future__ import annotations

from tfperfkit.offers import RanOperations
from tfperfkit.rule import Evidence

_ASSIGNS = ("Assign", "ResourceApply")


def eager_assignments(evidence: Evidence) -> float:
    """Count the assignments that a traced step makes outside of compiled functions."""
    ran = evidence.offer(RanOperations)
    rows = ran.rows if ran is not None else ()
    times = sum(row.count for row in rows if row.where == "eager" and row.type.startswith(_ASSIGNS))
    return times / max(ran.steps, 1) if ran is not None else 0.0


def assigns_eagerly(evidence: Evidence) -> bool:
    """Tell whether the traced steps, or a trace within the work, changed variables outside of compiled functions."""
    ran = evidence.offer(RanOperations)
    return ran is not None and any(row.where == "eager" and row.type.startswith(_ASSIGNS) for row in ran.rows)
