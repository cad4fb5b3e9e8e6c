"""The limit of an operation: by its arithmetic, its bytes and this machine's rates."""

from __future__ import annotations

import pytest

from tfperfkit.graph.bounds import AtHand, Machine, Tensor, moved, tensor
from tfperfkit.graph.optable import plain

#: A GFLOP takes 10 ms, a GB 100 ms.
MACHINE = Machine(gflops=100.0, gb_per_s=10.0)


def test_types_are_read_with_open_sizes_and_unknown_ranks() -> None:
    assert tensor("float32[8,None]") == Tensor("float32", (8, -1))
    assert tensor("float32[]") == Tensor("float32", ())
    assert tensor("float32[?]") == Tensor("float32", None)
    assert tensor("") == Tensor("", None)
    assert tensor("rubbish[x]").shape is None


def test_an_open_size_is_the_batch_s_and_two_are_not_known() -> None:
    assert tensor("float64[None,10]").bytes(32) == 32 * 10 * 8
    assert tensor("float64[None,10]").bytes(0) is None
    assert tensor("float32[None,None]").bytes(32) is None
    assert tensor("float32[None,28]").words(32) == "32×28"
    assert tensor("float32[None,None]").words(32) == "?×?"
    assert tensor("int32[]").words(32) == "1"


def test_bytes_are_what_is_read_and_written() -> None:
    rows, table = tensor("float32[100,8]"), tensor("float32[100000,8]")
    assert moved("Relu", [rows], [rows], 0) == 2 * 3200
    assert moved("ResourceGather", [tensor("resource[]"), tensor("int32[100]")], [rows], 0) == 2 * 3200
    assert moved("GatherV2", [table, tensor("int32[100]")], [rows], 0) == 2 * 3200
    assert moved("AssignAddVariableOp", [tensor("resource[]"), rows], [], 0) == 3 * 3200
    assert moved("TensorScatterUpdate", [table, tensor("int32[100,1]"), rows], [table], 0) == 2 * 3.2e6 + 400 + 3200
    assert moved("Relu", [tensor("float32[?]")], [rows], 32) is None


@pytest.mark.parametrize(
    ("kind", "ms", "flops", "bytes_", "expected"),
    [
        ("MatMul", 20.0, 1e9, 1e6, "arithmetic"),
        ("Relu", 20.0, None, 1e8, "memory"),
        ("Conv2D", 200.0, 1e9, 1e6, "kernel"),
        ("Exp", 200.0, None, 1e8, "numbers"),
        ("Cumsum", 200.0, None, 1e8, "kernel"),
        ("Cholesky", 200.0, None, 1e8, ""),  # its arithmetic is not counted
        ("Mul", 0.01, None, 100.0, "starting"),
        ("TopKV2", 20.0, None, None, ""),
    ],
)
def test_a_run_is_bound_by(kind: str, ms: float, flops: float | None, bytes_: float | None, expected: str) -> None:
    assert AtHand(MACHINE).bound(kind, ms, flops, bytes_) == expected


def test_two_slow_operations_alone_tell_neither_a_busy_machine_nor_a_slow_kernel() -> None:
    two = AtHand(MACHINE, [(100.0, None, 1e7), (150.0, None, 1e7)])
    assert two.bound("Cumsum", 100.0, None, 1e7) == ""


def test_where_all_operations_are_slow_the_machine_is_busy_and_none_of_them_is_to_blame() -> None:
    # A tenth of the limits: both of these, and the one that is judged.
    busy = AtHand(MACHINE, [(100.0, 1e9, None), (100.0, 1e9, None), (100.0, 1e9, None)])
    assert busy.reach(100.0) == pytest.approx(0.1)
    assert busy.bound("Conv2D", 100.0, 1e9, None) == "arithmetic"
    assert AtHand(MACHINE).bound("Conv2D", 100.0, 1e9, None) == "kernel"
    assert busy.bound("Conv2D", 100.0, 1e8, None) == "kernel"  # ten times slower than those


def test_short_operations_don_t_tell_how_busy_it_is_for_long_ones() -> None:
    quick = [(0.2, 2e7, None)] * 4
    assert AtHand(MACHINE, [*quick, (100.0, 1e9, None), (90.0, 9e8, None)]).reach(100.0) == pytest.approx(0.1)
    assert AtHand(MACHINE, quick).reach(0.2) == 1.0


def test_without_the_machine_nothing_is_said_but_of_small_ones() -> None:
    unknown = AtHand(Machine(None, None))
    assert unknown.bound("Conv2D", 200.0, 1e9, 1e6) == ""
    assert unknown.bound("Mul", 0.01, None, 100.0) == "starting"


def test_types_as_python_calls_them() -> None:
    assert [plain(each) for each in ("_MklNativeFusedConv2D", "_FusedMatMul", "_MklMatMul", "Relu")] == [
        "Conv2D",
        "MatMul",
        "MatMul",
        "Relu",
    ]
