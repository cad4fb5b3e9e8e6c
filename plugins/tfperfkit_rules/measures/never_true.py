"""A condition by which a loop is to skip work, and which was never true while the lines were counted."""

from __future__ import annotations

import os

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.offers import LineCounts
from tfperfkit.rule import Evidence
from tfperfkit.syntax.control_statements import find_control_statements
from tfperfkit_rules.measures.step_shares import text_of

MIN_TESTS = Threshold(
    1000,
    "times",
    "minimum number of times that a condition was evaluated and never true",
    Chosen("a condition for rare elements is true once in a thousand"),
)


def describe_never_true(evidence: Evidence) -> str:
    """Say which condition before a ``continue`` was never true, the one that was evaluated most; "" if there is none.
    Whether it should have been true is for the user to tell."""
    counts = evidence.offer(LineCounts)
    hits: dict[tuple[str, int], int] = {}
    for row in counts.rows if counts is not None else ():
        hits[row.file, row.line] = max(row.hits, hits.get((row.file, row.line), 0))
    found = [
        (hits[file, each.line], file, each)
        for file in sorted({file for file, _ in hits})
        if (syntax := evidence.syntax(file)) is not None
        for function in syntax.functions
        for each in find_control_statements(function)
        if each.skips and each.first > each.line
        if hits.get((file, each.line), 0) >= MIN_TESTS.value and not hits.get((file, each.first))
    ]
    if not found:
        return ""
    times, file, each = max(found, key=lambda item: item[0])
    place, text = f"{os.path.basename(file)}:{each.line}", text_of(evidence, (file, each.line))
    return (
        f"{place} ({text}) was false all {times:,} times that were counted, so no element was skipped. If some "
        "should be, check the condition."
    )
