"""A condition that was never true, by the counts of lines: a sentence of a finding about Python."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_rules.measures.never_true import describe_never_true

from tfperfkit.offers import LineCount, LineCounts

SOURCE = """\
def decode(cells, limit):
    boxes = []
    for cell in cells:
        if cell.all() <= limit:
            continue
        boxes.append(cell)
    return boxes
"""


def told(source: str = SOURCE, **hits: int) -> str:
    """``hits``: of a line, as ``line4=2000``."""
    rows = tuple(LineCount(file=FILE, line=int(name[4:]), hits=count) for name, count in hits.items())
    return describe_never_true(make_evidence(source=source, offers={"lines": [LineCounts(rows=rows)]}))


def test_a_condition_that_never_skips_is_told_with_its_count() -> None:
    text = told(line3=2001, line4=2000, line6=2000)
    assert ":4 (if cell.all() <= limit:)" in text
    assert "2,000 times" in text and "no element was skipped" in text


@pytest.mark.parametrize(
    ("source", "body"),
    [
        (SOURCE, 1),
        (SOURCE.replace("continue", "raise ValueError(cell)"), 0),
        (SOURCE.replace("continue", "break"), 0),
        (SOURCE.replace("            continue\n", "            continue\n        else:\n            pass\n"), 0),
        (SOURCE.replace("limit:\n            continue", "limit: continue"), 0),
    ],
    ids=["true once", "an error", "an end", "with an else", "on one line"],
)
def test_other_conditions_say_nothing(source: str, body: int) -> None:
    assert told(source, line3=2001, line4=2000, line5=body, line6=2000) == ""


def test_few_counts_say_nothing() -> None:
    assert told(line4=300, line6=300) == "" and told() == ""
