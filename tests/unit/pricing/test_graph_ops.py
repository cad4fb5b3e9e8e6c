"""Operations of compiled functions that go, or that others replace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.pricing.graph_ops import (
    BEYOND_CACHE,
    REST_LEFT_MIN,
    find_freed_share,
    find_left,
    find_saved_ms,
)


def operation(ms: float, alone: float = 1.0, threads: float = 1.0, moved: float = 0.0) -> ComputedOperation:
    """Return an operation of ``ms``, of which it runs the share ``alone`` by itself, on so many threads on average."""
    return ComputedOperation(
        name="a", type="Mul", stage="forward", runs=1.0, ms=ms, alone_ms=alone * ms, busy_ms=threads * ms, bytes=moved
    )


def step_of(operations: list[ComputedOperation]) -> ComputedStep:
    ms = sum(row.ms for row in operations)
    return ComputedStep(ms=ms, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=tuple(operations))


OPERATIONS = st.lists(
    st.builds(operation, st.floats(0.001, 1e3), st.floats(0.0, 1.0), st.floats(1.0, 4.0)), min_size=1, max_size=8
)


@given(OPERATIONS, st.integers(1, 8))
def test_no_more_than_the_operations_goes(operations: list[ComputedOperation], number: int) -> None:
    rows = operations[:number]
    saved_ms = find_saved_ms(step_of(operations), rows)
    assert -1e-6 <= saved_ms <= sum(row.ms for row in rows) + 1e-6


def test_an_operation_that_ran_alone_goes_whole() -> None:
    rows = [operation(3.0), operation(5.0)]
    assert find_saved_ms(step_of(rows), rows[:1]) == 3.0


@given(st.floats(0.01, 1e3), st.floats(0.0, 1e12), st.floats(0.0, 1e12), st.none() | st.floats(1.0, 1e5))
def test_a_replacement_takes_no_more_than_what_it_replaces(
    took_ms: float, flops: float, moved: float, gflops: float | None
) -> None:
    plain, trained = (find_left(took_ms, None, flops, moved, gflops, with_gradient=each) for each in (False, True))
    assert 0 <= plain.low <= plain.high <= 1
    assert plain.low <= trained.low and plain.high <= trained.high


@given(st.floats(0.0, 1.0))
def test_what_should_stay_is_within_what_stays(share: float) -> None:
    left = find_left(1.0, share, 0.0, 0.0, None, with_gradient=True)
    assert 0 <= left.low <= share <= left.high <= 1


def test_an_operation_beyond_the_caches_frees_them() -> None:
    large = operation(1.0, moved=BEYOND_CACHE.value)
    assert find_freed_share([operation(1.0), large]) == pytest.approx(1 - REST_LEFT_MIN.value)
    assert find_freed_share([operation(1.0)]) == 0.0
