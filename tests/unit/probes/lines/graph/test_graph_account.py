"""Dividing wall time: every moment once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tfperfkit_probes.lines.graph.account import Kernel, divide
from tfperfkit_probes.lines.graph.trace import Call, CallIndex, Key, Segment

from tfperfkit.xplane.spans import Span

A, B, W = Key("a", "MatMul"), Key("b", "Mul"), Key("w", "While")


def seg(begin: int, end: int, key: Key = A, waits: bool = False) -> Segment:
    return Segment(begin, end, key, waits)


def test_parallel_operations_share_a_moment_and_keep_their_busy_time() -> None:
    (time,) = divide([Call("f", 0, 100)], [seg(0, 60), seg(20, 60, B)])
    assert (time.usage[A].wall, time.usage[A].busy) == (40, 60)
    assert (time.usage[B].wall, time.usage[B].busy) == (20, 40)
    assert (time.usage[A].alone, time.usage[B].alone) == (20, 0)
    assert time.idle == 40 and time.wall == 100


def test_an_operation_beside_itself_is_alone() -> None:
    (time,) = divide([Call("f", 0, 100)], [seg(0, 60), seg(20, 60)])
    assert (time.usage[A].wall, time.usage[A].alone, time.usage[A].busy) == (60, 60, 100)


def test_waiting_counts_only_where_nothing_runs() -> None:
    (time,) = divide([Call("f", 0, 100)], [seg(0, 100, W, waits=True), seg(10, 30)])
    assert time.usage[W].wall == 80 and time.usage[A].wall == 20 and time.idle == 0
    assert time.usage[W].busy == 0


def test_a_call_that_only_fetches_its_input_is_not_computing() -> None:
    fetches = [Span(5, 70), Span(90, 130), Span(200, 300)]
    (time,) = divide([Call("f", 0, 100)], [seg(10, 30), seg(40, 95, W, waits=True)], fetches=fetches)
    assert time.fetching == 5 + 40 + 10
    assert (time.wall, time.usage[A].wall, time.usage[W].wall, time.idle) == (45, 20, 20, 5)


def test_work_outside_of_calls_is_left_out_and_what_runs_over_is_cut() -> None:
    (time,) = divide([Call("f", 10, 50)], [seg(0, 5), seg(40, 70), seg(60, 80)])
    assert time.wall == 40 and time.usage[A].wall == 10 and time.idle == 30


def test_kernels_come_first_and_prolong_the_call_that_launched_them() -> None:
    first, second = divide(
        [Call("f", 0, 20), Call("g", 30, 60)],
        [seg(0, 20, B), seg(30, 60, B)],
        [Kernel(seg(10, 50, A), 5), Kernel(seg(50, 80, A), 35)],
    )
    assert first.usage[A].wall == 40 and first.usage[B].wall == 10 and first.wall == 50
    assert second.usage[A].wall == 30 and second.usage[B].wall == 0 and second.wall == 30


def test_nested_calls_belong_to_the_outermost() -> None:
    (time,) = divide([Call("g", 10, 20), Call("f", 0, 100)], [seg(12, 18)])
    assert time.function == "f" and time.usage[A].wall == 6


def test_kernels_of_known_work_share_a_moment_by_their_rates() -> None:
    waiting, working = Segment(0, 80, A, False, rate=1.0), Segment(0, 80, B, False, rate=7.0)
    (time,) = divide([Call("f", 0, 100)], [waiting, working])
    assert (time.usage[A].wall, time.usage[B].wall) == (10, 70)
    (time,) = divide([Call("f", 0, 100)], [waiting, seg(0, 80, B)])  # one is not known: equal parts
    assert (time.usage[A].wall, time.usage[B].wall) == (40, 40)


def test_runs_are_counted_by_beginnings() -> None:
    parts = [Segment(0, 5, A, False), Segment(8, 10, A, False, False), Segment(20, 22, A, False)]
    (time,) = divide([Call("f", 0, 30)], parts)
    assert time.usage[A].runs == 2


spans = st.tuples(st.integers(0, 300), st.integers(0, 80), st.sampled_from([A, B, W]), st.booleans(), st.integers(0, 2))


@given(st.lists(spans, max_size=25), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), max_size=4))
def test_all_that_is_shared_out_adds_up_to_the_calls(
    work: list[tuple[int, int, Key, bool, int]], calls: list[tuple[int, int]]
) -> None:
    made = [Call(f"f{i}", begin, begin + length) for i, (begin, length) in enumerate(calls)]
    segments = [seg(b, b + n, key, waits) for b, n, key, waits, kind in work if kind]
    kernels = [Kernel(seg(b, b + n, key), b) for b, n, key, _, kind in work if not kind]
    for time in divide(made, segments, kernels):
        parts = sum(usage.wall for usage in time.usage.values())
        assert parts + time.idle == pytest.approx(time.wall)
        if not kernels:
            outermost = [call for call in CallIndex(made).calls if call.function == time.function]
            assert time.wall == pytest.approx(sum(call.end - call.begin for call in outermost))
