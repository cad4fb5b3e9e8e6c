"""Wasted work is looked for in graphs of any size; what is recorded of it survives the way to the rules."""

from __future__ import annotations

from graph_causes import causes_in, code_of
from ops_builder import Builder
from tfperfkit_rules.graph.same_in_each import NeverChanging

HERE = (("train.py", 7, "call"),)


def test_a_large_graph_takes_time_in_proportion() -> None:
    """Each lookup and each sum of an unrolled recurrence stands behind all before it."""
    made = Builder()
    x = made.add("Placeholder", "x", (), "float32[64,64]")
    ids = made.add("Placeholder", "ids", (), "int32[8]")
    axis = made.add("Const", "axis", (), "int32[]", value=0)
    state = x
    for turn in range(5000):
        product = made.add("MatMul", f"product{turn}", (state, x), "float32[64,64]")
        state = made.add("AddV2", f"state{turn}", (state, product), "float32[64,64]")
        out = made.add("Tanh", f"out{turn}", (state,), "float32[64,64]")
        made.add("GatherV2", f"taken{turn}", (out, ids, axis), "float32[8,64]")
    # Each activation is of 64 rows, of which eight are looked up: that alone could be moved behind its lookup.
    assert {code_of(each) for each in causes_in(made.graph(), None)} <= {"GRF014"}


def normalised(rows: int) -> list[NeverChanging]:
    """Return the repeated work where a captured table is normalised and multiplied by what an argument gives."""
    made = Builder()
    query = made.add("Placeholder", "query", (), "float32[8,64]")
    table = made.add("Placeholder", "table", (), f"float32[{rows},64]")
    squares = made.add("Square", "squares", (table,), f"float32[{rows},64]", HERE)
    unit = made.add("Mul", "unit", (table, squares), f"float32[{rows},64]", HERE)
    made.add("MatMul", "likeness", (query, unit), f"float32[8,{rows}]", HERE)
    made.arguments.remove(table)
    made.captures.append(table)
    return [each for each in causes_in(made.graph()) if isinstance(each, NeverChanging) and not each.idle]


def test_what_goes_through_a_large_table_that_stays_is_looked_at_though_it_is_no_product() -> None:
    assert [each.operations for each in normalised(20_000)] == [["squares", "unit"]]
    assert not normalised(20), "it takes no time"
