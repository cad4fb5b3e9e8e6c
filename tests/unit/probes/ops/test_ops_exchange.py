"""The data that replicas send each other, read off made-up graphs."""

from __future__ import annotations

from ops_builder import Builder
from tfperfkit_probes.ops.exchange import exchanged, tables
from tfperfkit_probes.ops.stored import VariableRecord

CPU = "/job:localhost/replica:0/task:0/device:CPU:{}"
AT, LOOKUP = ("train.py", 40, "train_step"), ("train.py", 32, "call")


def sums(builder: Builder, name: str, value: str, device: int, makes: str = "float32[100]") -> str:
    made = builder.add("CollectiveReduceV2", name, (value, "count"), makes, (AT,))
    builder.definition.node[-1].device = CPU.format(device).encode()
    return made


def of_two_devices() -> Builder:
    builder = Builder()
    builder.add("Const", "count", (), "int32[]", value=4)
    builder.add("Placeholder", "x", makes="float32[100]")
    return builder


def test_the_sums_of_a_line_are_counted_for_one_device() -> None:
    builder = of_two_devices()
    for device in (0, 1):
        for number in range(10):
            sums(builder, f"sum_{device}_{number}", "x", device)
    (row,) = exchanged(builder.graph(), None)
    assert (row.ops, row.rounds, row.bytes, row.devices, row.replicas) == (10, 1, 4000, 2, 4)
    assert row.where is not None and row.where.line == 40


def test_sums_that_need_one_another_are_rounds() -> None:
    builder = of_two_devices()
    value = "x"
    for number in range(5):
        value = sums(builder, f"sum_{number}", value, 0)
    (row,) = exchanged(builder.graph(), None)
    assert (row.ops, row.rounds) == (5, 5)


def test_no_exchange_without_collective_operations() -> None:
    builder = Builder()
    builder.add("Placeholder", "x", makes="float32[4]")
    builder.add("AddN", "sum", ("x", "x"), "float32[4]")
    assert exchanged(builder.graph(), None) == []


def lookup(indices: str = "int32[8,20]") -> Builder:
    builder = Builder()
    builder.add("Placeholder", "table", makes="resource[]")
    builder.add("Placeholder", "words", makes=indices)
    builder.add("ReadVariableOp", "read", ("table",), "float32[500,16]")
    builder.add("Const", "axis", (), "int32[]", value=0)
    builder.add("GatherV2", "model/embedding/GatherV2", ("read", "words", "axis"), "float32[8,20,16]", (LOOKUP,))
    return builder


TRAINED = [VariableRecord("embeddings", "float32[500,16]", 32_000, True)]


def test_a_table_whose_rows_are_looked_up() -> None:
    (table,) = tables(lookup().graph(), None, TRAINED)
    assert (table.rows, table.width, table.number_bytes, table.taken) == (500, 16, 4, 160)
    assert table.where is not None and table.where.line == 32 and table.made_dense is None
    assert tables(lookup().graph(), None, []) == []  # it is not trained


def test_a_table_that_is_read_in_another_way_too() -> None:
    builder = lookup()
    builder.add("MatMul", "model/logits/MatMul", ("model/embedding/GatherV2", "read"), "float32[8,500]")
    assert tables(builder.graph(), None, TRAINED) == []


def test_how_many_rows_is_not_known() -> None:
    assert tables(lookup("int32[?]").graph(), None, TRAINED) == []


def test_where_a_gradient_becomes_as_large_as_a_table() -> None:
    builder = lookup()
    builder.add("UnsortedSegmentSum", "sgd/update_0/UnsortedSegmentSum", ("words",), "float32[None,16]", (AT,))
    assert tables(builder.graph(), None, TRAINED)[0].made_dense is None
    builder.add("UnsortedSegmentSum", "Convert", ("words",), "float32[None,16]", (("train.py", 35, "step"),))
    (table,) = tables(builder.graph(), None, TRAINED)
    assert table.made_dense is not None and table.made_dense.line == 35
