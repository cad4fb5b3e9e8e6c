"""Gradients of few rows that become a table before they are added to a variable."""

from __future__ import annotations

import pytest
from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_rules.graph.copied_variable import SummedTable

HERE = (("train.py", 53, "micro_step"),)
TABLE = "float32[50000,32]"


def added(way: str, named: int = 512) -> list[SummedTable]:
    """Add ``named`` rows to zeros; the sum goes into a variable in one of several ways."""
    made = Builder()
    handle = made.add("Placeholder", "total", (), "resource")
    values = made.add("Placeholder", "values", (), f"float32[{named},32]")
    ids = made.add("Placeholder", "ids", (), f"int32[{named}]")
    rows = made.add("Const", "rows", (), "int32[]", value=50_000)
    rate = made.add("Placeholder", "rate", (), "float32[]")
    dense = made.add("UnsortedSegmentSum", "dense", (values, ids, rows), TABLE, HERE)
    read = made.add("ReadVariableOp", "read", (handle,), TABLE, HERE)
    if way == "scaled":
        dense = made.add("Mul", "scaled", (rate, dense), TABLE, HERE)
        made.add("AssignSubVariableOp", "assign", (handle, dense), "", HERE)
    elif way == "assigned":
        made.add("AssignVariableOp", "assign", (handle, made.add("AddV2", "sum", (read, dense), TABLE, HERE)), "", HERE)
    elif way == "average":
        kept = made.add("Mul", "kept", (read, rate), TABLE, HERE)
        made.add("AssignVariableOp", "assign", (handle, made.add("AddV2", "sum", (kept, dense), TABLE, HERE)), "", HERE)
    else:
        made.add("AssignAddVariableOp", "assign", (handle, dense), "", HERE)
    return [each for each in causes_in(made.graph()) if isinstance(each, SummedTable)]


@pytest.mark.parametrize(
    ("way", "operations"),
    [
        ("added", ["dense", "assign"]),
        ("scaled", ["dense", "scaled", "assign"]),
        ("assigned", ["dense", "sum", "assign"]),
    ],
)
def test_few_rows_are_added_as_a_whole_table(way: str, operations: list[str]) -> None:
    (found,) = added(way)
    assert found.operations == operations
    assert found.rows == 50_000 and found.written == 512
    assert found.where is not None and found.where.line == 53


def test_what_changes_the_other_rows_too_needs_the_table() -> None:
    assert not added("average")


def test_most_rows_are_no_few() -> None:
    assert not added("added", named=40_000)
