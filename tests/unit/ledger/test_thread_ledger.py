"""Time on other threads hangs below the call that caused it, where that is known."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_runs import study_recorded

from tfperfkit.ledger.thread_ledger import make_thread_ledger

SECOND = 1_000_000_000
FIT = ["train.py", 1, "main", 9, None, "keras.src.backend.tensorflow.trainer:fit"]
ITEM = ["data.py", 3, "__getitem__", 5, None]
SPIN = ["poll.py", 1, "watch", 4, None]
STACKS: list[Any] = [
    ["stack", 1, [FIT], "keras", "graph", ""],
    ["stack", 2, [ITEM], "numpy", "python", ""],
    ["stack", 3, [SPIN], "", "python", ""],
    ["stack", 4, [["train.py", 1, "main", 7, None]], "", "python", ""],
    ["rate", 0, SECOND],
]


def lines(*rows: Any) -> dict[tuple[str, ...], float]:
    ledger = make_thread_ledger([*STACKS, *rows]).ledger
    return {
        tuple(f"{frame.file}:{frame.line}" for frame in entry.stack.frames): entry.value for entry in ledger.entries
    }


def test_python_that_a_pipeline_calls_hangs_below_the_call_of_fit() -> None:
    rows = [["s", SECOND, 1, 1], ["called", SECOND, 2, 8], ["s", 2 * SECOND, 1, 1], ["called", 2 * SECOND, 2, 8]]
    assert lines(*rows) == {("train.py:9", "data.py:5"): 2.0}


def test_a_pipeline_that_runs_ahead_of_the_scripts_own_python_has_no_known_cause() -> None:
    assert lines(["s", SECOND, 4, 1], ["called", SECOND, 2, 8]) == {("data.py:5",): 1.0}


def test_a_thread_that_is_waited_for_hangs_below_the_wait_and_a_busy_one_has_its_own_root() -> None:
    assert lines(["s", SECOND, 4, 1], ["awaited", SECOND, 2, 8]) == {("train.py:7", "data.py:5"): 1.0}
    assert lines(["s", SECOND, 1, 1], ["busy", SECOND, 3, 8]) == {("poll.py:4",): 1.0}


def test_one_moment_of_a_thread_counts_once() -> None:
    assert lines(["s", SECOND, 4, 1], ["awaited", SECOND, 2, 8], ["busy", SECOND, 2, 8]) == {
        ("train.py:7", "data.py:5"): 1.0
    }
    assert lines(["s", SECOND, 1, 1]) == {}


@pytest.mark.parametrize(("name", "line", "caused_by"), [("pydataset_noise", 22, 40), ("rows_from_service", 17, 57)])
def test_recorded_runs_name_the_line_on_the_other_thread_and_its_cause(name: str, line: int, caused_by: int) -> None:
    report, _ = study_recorded(name)
    first = report.thread_calls[0]
    assert (first.where.line, first.callers[0].line) == (line, caused_by)
    assert 0 < first.seconds <= report.run.wall_s and first.seconds_range is not None
    if name == "pydataset_noise":
        assert "INP005" in first.findings
