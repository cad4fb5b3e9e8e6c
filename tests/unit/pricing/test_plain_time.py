"""Windows make steps slower; predictions are about a run without them."""

from __future__ import annotations

import pytest

from tfperfkit.clock import NS_PER_S
from tfperfkit.pricing.plain_time import BY_LINE, SLOWED, added_by_windows_s, share_added_by_windows
from tfperfkit.records.samples import SampleLog, Stack
from tfperfkit.records.steps import Step, StepTable


def table(*steps: tuple[float, float, str], count: int = 1) -> StepTable:
    """Steps that begin and end at these seconds, in these windows."""
    made = [
        Step(n, round(begin * NS_PER_S), round(end * NS_PER_S), window=window, count=count)
        for n, (begin, end, window) in enumerate(steps, 1)
    ]
    return StepTable(steps=tuple(made), source="work", definition="", loop=None)


def test_steps_in_a_window_count_beyond_clean_ones() -> None:
    steps = table((0, 1, "clean"), (1, 2, "clean"), (2, 4, "tfprof"), (4, 5.5, "lines"))
    assert added_by_windows_s(steps) == pytest.approx(1.5)


def test_a_window_before_the_steps_were_steady_holds_tracing() -> None:
    assert added_by_windows_s(table((0, 9, "tfprof"), (9, 10, "clean"))) == 0.0


def test_nothing_is_added_by_steps_that_were_quicker_in_a_window() -> None:
    assert added_by_windows_s(table((0, 2, "clean"), (2, 3, "tfprof"))) == 0.0


def test_of_work_without_iterations_the_samples_tell() -> None:
    # Ten seconds: 2 s of eager operations and 1 s in a compiled function while lines are timed, 1 s with a trace.
    stacks = {1: Stack((), "tensorflow", "eager_ops"), 2: Stack((), "tensorflow", "graph")}
    taken = [(second * NS_PER_S, 2 if second in (3, 4, 5) else 1) for second in range(1, 11)]
    log = SampleLog(stacks, taken, [(0, NS_PER_S)])
    by_line, traced = frozenset({"sys.settrace", "sys.monitoring"}), frozenset({"tf.profiler"})
    windows = [(NS_PER_S // 2, 3 * NS_PER_S, by_line), (5 * NS_PER_S, 5 * NS_PER_S + 1, traced)]
    added_s = 2.0 * (1 - 1 / BY_LINE.value) + 1 - 1 / SLOWED.value
    assert share_added_by_windows(log, windows) == pytest.approx(added_s / 10)
    assert share_added_by_windows(SampleLog({}, ()), windows) == 0.0


def test_of_training_without_windows_nothing_was_added() -> None:
    assert added_by_windows_s(table((0, 6, "clean"))) == 0.0
    assert added_by_windows_s(table((0, 1, "warmup"), (1, 2, "warmup"))) == 0.0, "a run of two steps"
    assert added_by_windows_s(StepTable(steps=(), source="work", definition="", loop=None)) == 0.0
