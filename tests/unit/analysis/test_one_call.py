"""Steps that all ran in one call, and windows that the script did not wait for."""

from __future__ import annotations

from pathlib import Path

from tfperfkit.analysis.gather import pauses
from tfperfkit.analysis.step_table import label, steady_call
from tfperfkit.recording.window_phases import WindowDeaths
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import IN_ONE_CALL, Step, StepTable
from tfperfkit.storage.run_directory import PHASES, Manifest, RunDirectory

NONE = Spans()


def list_windows(
    *steps: Step, spans: tuple[tuple[int, int, str], ...] = (), tracing: Spans = NONE
) -> list[tuple[int, str]]:
    """When each began, and its window."""
    return [(step.begin_ns, step.window) for step in steady_call(label(steps, spans), tracing)]


def test_one_call_is_clean_though_a_window_lies_within() -> None:
    epoch = Step(1, 0, 900, count=150)
    assert list_windows(epoch) == list_windows(epoch, spans=((300, 400, "tfprof"),)) == [(0, "clean")]
    assert list_windows(Step(1, 0, 900, count=IN_ONE_CALL - 1)) == list_windows(Step(1, 0, 900)) == [(0, "warmup")]


def test_its_tracing_is_paid_once_and_no_part_of_its_steps() -> None:
    epoch = Step(1, 100, 1000, count=150)
    assert list_windows(epoch, tracing=Spans([(0, 50), (110, 300), (310, 700)])) == [(700, "clean")]
    # traced again in the middle of the call
    assert list_windows(epoch, tracing=Spans([(110, 300), (900, 950)])) == [(100, "clean")]


def test_of_several_calls_the_last_where_none_is_clean_already() -> None:
    first, second = Step(1, 0, 900, count=50), Step(51, 900, 1500, count=50)
    both = [(0, "warmup"), (900, "clean")]
    assert list_windows(first, second) == list_windows(first, second, spans=((1000, 1100, "tfprof"),)) == both


def test_nobody_waits_for_what_the_pulse_does(tmp_path: Path) -> None:
    run = RunDirectory.create(
        tmp_path / "r", Manifest(tfperfkit_run=1, argv=["a.py"], cwd=".", python="python", probes=[])
    )
    windows = WindowDeaths(run)
    windows.enter("lines", "opening")  # by the script's thread
    windows.enter("lines", "open")
    windows.tick(0)  # from here on this thread is the pulse
    windows.enter("tfprof", "opening")
    windows.enter("tfprof", "open")
    windows.end()
    rows = list(run.records(f"session/{PHASES}.jsonl"))
    assert [len(row) for row in rows] == [3, 3, 4, 4]
    assert list(pauses(rows, StepTable())) == [(rows[0][2], rows[1][2])]
