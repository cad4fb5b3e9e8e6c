"""How many rows a costly call gets, as LIN001 says it, on made-up evidence."""

from __future__ import annotations

from typing import Any

from eager_builder import leaf, seen, site, sites
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_rules.measures.amounts import describe_amount
from tfperfkit_rules.step import python_time

from tfperfkit.records.samples import Frame

SOURCE = """\
import numpy as np
from scipy.spatial.distance import cdist
background = np.zeros((6000, 40))
for row in rows:
    near = cdist(background, row)
    step(near)
"""
CALL = Frame(FILE, 1, "<module>", 5, (5, 5, 11, 33), ("scipy.spatial.distance:cdist",))


def given(source: str = SOURCE) -> Any:
    """Return a loop of which the call in line 5 takes 60 % of the time."""
    table = make_steps(60)
    spied = seen(table, [(60, "python", (CALL,)), (40, "graph", leaf(6))])
    return make_evidence(
        parts_ms={"python": 6.0, "graph": 4.0},
        steps=table,
        source=source,
        **spied._asdict(),
        records=sites(site(1, "call", 6, loops=(4,))),
    )


def test_a_costly_call_is_told_with_the_rows_that_it_gets() -> None:
    (found,) = python_time.hot_python(given())
    assert "SciPy (scipy.spatial.distance.cdist) on one line" in found.title
    assert "The call goes through 6,000 rows (background), train.py:5. If a sample of the rows is" in found.detail


def test_few_rows_and_unknown_ones_are_not_told() -> None:
    assert describe_amount(given(), CALL)
    assert not describe_amount(given(SOURCE.replace("(6000, 40)", "(60, 40)")), CALL)
    assert not describe_amount(given(SOURCE.replace("np.zeros((6000, 40))", "load()")), CALL)
