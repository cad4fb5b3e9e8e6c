"""Count how often a line of the user's Python runs in a step."""

from __future__ import annotations

import ast

from tfperfkit.offers import LineCounts
from tfperfkit.rule import Evidence
from tfperfkit.syntax.nodes import LOOPS, get_lines


def hits_per_step(evidence: Evidence, file: str, line: int) -> float | None:
    """As the window that counts lines saw it; None where it did not count this one."""
    counts = evidence.offer(LineCounts)
    steps = sum(step.count for step in evidence.steps.in_window(evidence.offered_by(LineCounts)))
    hits = [row.hits for row in counts.rows if (row.file, row.line) == (file, line)] if counts is not None else []
    return sum(hits) / steps if hits and steps else None


def conditional(evidence: Evidence, file: str, line: int) -> bool:
    """Whether an iteration of the innermost loop around a line may skip the line; True if that is unknown."""
    syntax = evidence.syntax(file)
    if syntax is None:
        return True
    around: list[ast.stmt | ast.IfExp] = [*syntax.find_statements(line, *LOOPS, ast.If, ast.Try, ast.Match)]
    around += [node for node in syntax.find_nodes(ast.IfExp) if line in get_lines(node)]
    return not isinstance(max(around, key=lambda node: node.lineno, default=None), LOOPS)
