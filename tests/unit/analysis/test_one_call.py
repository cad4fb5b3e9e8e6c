"""Steps that all ran in one call, and windows that the script did not wait for."""

from __future__ import annotations

from pathlib import Path

from tfperfkit.analysis.pauses import pauses
from tfperfkit.analysis.step_table import label
from tfperfkit.recording.window_phases import WindowDeaths
from tfperfkit.records.steps import IN_ONE_CALL, Step, StepTable
from tfperfkit.storage.run_directory import PHASES, Manifest, RunDirectory


def windows_of(*steps: Step, spans: tuple[tuple[int, int, str], ...] = ()) -> list[str]:
    return [step.window for step in label(steps, spans)]


def test_one_call_is_clean_though_it_traces_and_has_a_window_within() -> None:
    epoch = Step(1, 0, 900, count=150)
    assert windows_of(epoch) == windows_of(epoch, spans=((300, 400, "tfprof"),)) == ["clean"]
    assert windows_of(Step(1, 0, 900, count=IN_ONE_CALL - 1)) == ["warmup"]
    assert windows_of(Step(1, 0, 900)) == ["warmup"]


def test_of_several_calls_the_last_where_none_is_clean_already() -> None:
    first, second = Step(1, 0, 900, count=50), Step(51, 900, 1500, count=50)
    assert windows_of(first, second) == ["warmup", "clean"]
    assert windows_of(first, second, spans=((1000, 1100, "tfprof"),)) == ["warmup", "clean"]


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
