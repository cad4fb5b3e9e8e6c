"""Causes that rules find in graphs: those of one line are one."""

from __future__ import annotations

from graph_causes import causes_in
from ops_builder import Builder
from tfperfkit_rules.graph.whole_sort import SortedRow

HERE = (("train.py", 7, "call"),)


def test_one_line_in_several_places_is_one_entry_with_all_of_its_operations() -> None:
    made = Builder()
    x = made.add("Placeholder", "x", (), "float32[8,2000]")
    count = made.add("Const", "count", (), "int32[]", value=2000)
    begin = made.add("Const", "begin", (), "int32[2]", value=0)
    size = made.add("Const", "size", (), "int32[2]", value=5)
    for number in range(3):
        ranked = made.add("TopKV2", f"sort{number}", (x, count), "float32[8,2000];int32[8,2000]", HERE)
        made.add("Slice", f"first{number}", (ranked, begin, size), "float32[8,5]", HERE)
    (found,) = causes_in(made.graph())
    assert isinstance(found, SortedRow)
    assert found.operations == ["sort0", "sort1", "sort2"]
    assert found.where is not None and found.where.line == 7
    assert (found.length, found.used, found.rows) == (2000, 5, 8) and found.left is not None and found.left < 0.2
    assert found.takes_bytes > 0 and found.whole_bytes >= found.takes_bytes
