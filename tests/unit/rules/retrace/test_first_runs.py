"""Gains of retraces if no step shows the rest: by timed first executions."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE
from tfperfkit_rules.retrace.first_runs import FirstRuns, beyond, idle
from tfperfkit_rules.retrace.without import saved_with
from tfprof_builder import brief, graphs
from work_builder import frame, sampled, work_evidence

from tfperfkit.rule import Evidence

CALL = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
SOURCE = "import tensorflow as tf\nfor x in xs:\n    f(x)\n"


def work(**fields: Any) -> Evidence:
    """8 s: 60 % tracing, 30 % in compiled functions, 8 % in TensorFlow's Python, half of it in their calls."""
    stacks = [
        sampled(60, "tracing", frame(3, CALL)),
        sampled(30, "graph", frame(3, CALL)),
        sampled(4, "dispatch", frame(3, CALL)),
        sampled(4, "dispatch", frame(3, "tensorflow.python.ops.math_ops:reduce_sum")),
        sampled(2, "python", frame(3)),
    ]
    return work_evidence(SOURCE, stacks, loop=2, **fields)


def test_a_first_execution_costs_what_running_again_does_not() -> None:
    known = brief(function="f", file=FILE, line=1, flops=1e6, moved_bytes=1e6, operations=50, first_execution_ms=40.0)
    evidence = work(functions=graphs(known, brief(function="g", file=FILE, line=9)), machine_gflops=100.0)
    found = beyond(evidence, [((FILE, 1, "f"), 20), ((FILE, 5, "other"), 7)])
    assert found is not None and found.again is not None
    assert 20 * 30 < found.lower < found.upper < 20 * 40
    assert found.lower + found.again == pytest.approx(20 * 40)


def test_what_was_not_timed_or_has_no_arithmetic_is_not_known() -> None:
    for fields in ({"first_execution_ms": None}, {"flops": None}):
        evidence = work(functions=graphs(brief(function="f", file=FILE, line=1, **fields)), machine_gflops=100.0)
        assert beyond(evidence, [((FILE, 1, "f"), 20)]) is None
    assert saved_with(work(), 0.6, None) is None and idle(work()) is None


def test_the_gain_has_first_executions_and_what_python_does_for_them() -> None:
    found = saved_with(work(), 0.6, FirstRuns(1600.0, 2000.0, 80.0))
    assert found is not None and found[:2] == pytest.approx((0.6 + 0.2, 0.6 + 0.25 + 0.04))
    # More than samples saw in compiled functions can't go with them.
    most = saved_with(work(), 0.6, FirstRuns(9e3, 9e3))
    assert most is not None and most[:2] == pytest.approx((0.9, 0.94))


def test_where_each_call_is_a_first_one_only_running_again_is_left_and_one_trace_is_paid() -> None:
    first = FirstRuns(1600.0, 2000.0, 80.0)
    every, few = (saved_with(work(), 0.6, first, each=True, **of) for of in ({}, {"of": 10}))
    assert every is not None and every[:2] == pytest.approx((0.89, 0.93))
    assert few is not None and few[:2] == pytest.approx((0.89 - 0.089, 0.93 - 0.089))
