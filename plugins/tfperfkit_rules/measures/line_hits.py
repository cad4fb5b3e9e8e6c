"""How often a line of the person's Python runs in a step."""

from __future__ import annotations

import ast

from tfperfkit.offers import LineCounts
from tfperfkit.rule import Evidence

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def hits_per_step(evidence: Evidence, file: str, line: int) -> float | None:
    """As the window that counts lines saw it; None where it did not count this one."""
    counts = evidence.offer(LineCounts)
    steps = sum(step.count for step in evidence.steps.in_window(evidence.offered_by(LineCounts)))
    hits = [row.hits for row in counts.rows if (row.file, row.line) == (file, line)] if counts is not None else []
    return sum(hits) / steps if hits and steps else None


def conditional(evidence: Evidence, file: str, line: int) -> bool:
    """Whether the source may skip a line in a turn of the innermost loop around it; True where it is not known."""
    syntax = evidence.syntax(file)
    if syntax is None:
        return True
    around = [
        node
        for node in ast.walk(syntax.tree)
        if isinstance(node, (*_LOOPS, ast.If, ast.Try, ast.Match, ast.IfExp))
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    innermost = max(around, key=lambda node: node.lineno, default=None)
    return not isinstance(innermost, _LOOPS)
