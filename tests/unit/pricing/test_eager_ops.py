"""Eager operations once they are compiled, or once all iterations of a loop are one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.offers import RanOperation
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.pricing.eager_ops import AGAIN, EagerOps, batch_ops, compile_ops, trace_once

ROWS = st.lists(
    st.builds(
        lambda kind, count, ms: RanOperation(name=kind, type=kind, count=count, self_ms=ms, where="eager"),
        st.sampled_from(["MatMul", "Conv2D", "Conv2DBackpropInput", "AddV2", "Sum", "Reshape", "Identity"]),
        st.integers(1, 1000),
        st.floats(0.0, 1e3),
    ),
    min_size=1,
    max_size=12,
)


def tiny(kind: str, count: int, ms: float) -> RanOperation:
    return RanOperation(name=kind, type=kind, count=count, self_ms=ms, where="eager")


@given(ROWS, st.floats(0.01, 10.0), st.integers(1, 4), st.integers(1, 64))
def test_the_ends_are_in_order(rows: list[RanOperation], scale: float, updates: int, cpus: int) -> None:
    ops = EagerOps.split(rows, scale)
    own_ms = scale * sum(row.self_ms for row in rows)
    for bounds in (
        ops.find_light_ms(),
        ops.find_heavy_ms(),
        ops.find_step_ms(updates, 1, cpus),
        trace_once(ops, own_ms),
        compile_ops(ops, ops.find_heavy_ms(), Bounds(0.1, 0.2)),
        batch_ops(ops, own_ms, Bounds(10.0, 100.0), cpus),
    ):
        assert -1e-9 <= bounds.lower <= bounds.upper + 1e-9


def test_operations_without_work_leave_their_start_alone() -> None:
    ops = EagerOps.split([tiny("AddV2", 100, 1.0), tiny("Identity", 50, 9.0)], 1.0)
    assert compile_ops(ops, ops.find_heavy_ms(), Bounds(0.1, 0.1)) == pytest.approx(
        (0.1 / AGAIN.value, 0.1 * AGAIN.value)
    )


@given(ROWS, st.floats(1.0, 100.0), st.floats(1.0, 10.0))
def test_more_iterations_at_once_leave_no_more(rows: list[RanOperation], few: float, more: float) -> None:
    ops = EagerOps.split(rows, 1.0)
    own_ms = sum(row.self_ms for row in rows)
    small, large = (batch_ops(ops, own_ms, Bounds(number, number), 2) for number in (few, few * more))
    assert large.upper <= small.upper + 1e-9


def test_a_heavy_operation_that_nobody_uses_goes_at_best() -> None:
    """Compute the gradient of the first layer's input too, as a tape does: half of the backward work."""
    rows = [tiny("Conv2D", 1, 100.0), tiny("Conv2DBackpropInput", 1, 100.0), tiny("Conv2DBackpropFilter", 1, 100.0)]
    ops = EagerOps.split([*rows, tiny("AddV2", 10, 0.0)], 1.0)
    assert ops.find_step_ms(1, 1, 1) == pytest.approx((200.0, 300.0))
    assert ops.find_step_ms(2, 1, 1) == pytest.approx((200.0, 300.0))
