"""A process that watches a long run from outside: it hears nothing for a while, and a calendar jumps."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from stretch_builder import ROW_S, row

from tfperfkit.analysis.history import history
from tfperfkit.records.history import ASKED, BLOCKS, CHANGES, MINUTES, Change, Stretch, WatchPlan, read
from tfperfkit.storage.run_directory import Manifest, RunDirectory, read_stream
from tfperfkit.watching import monitor
from tfperfkit.watching.monitor import Monitor
from tfperfkit.watching.triggers import STALL_S, Triggers

NS = 10**9


class Beside:
    """A monitor at a clock that the test sets."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.now = folder, 10**12
        (folder / BLOCKS).mkdir()
        monkeypatch.setattr(monitor, "now_ns", lambda: self.now)
        self.monitor = Monitor(folder, WatchPlan())

    def rows(self, *rows: Stretch) -> None:
        with (self.folder / BLOCKS / "000000.jsonl").open("ab") as file:
            file.write(b"".join(b'["session/blocks",' + msgspec.json.encode(each) + b"]\n" for each in rows))

    def changes(self) -> list[Change]:
        return read(read_stream(self.folder / CHANGES), Change)


def test_a_process_that_is_stopped_is_noted_once_and_asked_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Ctrl-Z, a debugger that is attached, a paused container, or a call that holds the interpreter's lock."""
    beside = Beside(tmp_path, monkeypatch)
    for silence in (1, 2):
        beside.rows(row(silence))
        beside.monitor.look()
        for _ in range(30):
            beside.now += ROW_S * NS
            beside.monitor.look()
        found = beside.changes()
        assert [each.why for each in found] == ["stall"] * silence
        assert f"for {STALL_S + 3 * ROW_S:.0f} s: it is stopped" in found[-1].text
        assert not (tmp_path / ASKED).exists()


@pytest.mark.parametrize("jump_s", [-400 * 86_400.0, 3600.0, 1e9])
def test_a_calendar_that_jumps_changes_nothing(tmp_path: Path, jump_s: float) -> None:
    """By NTP, summer time or hand: all that is measured is by a clock that only goes on."""
    rows = [row(number, wall_s=1e9 + number * ROW_S + (jump_s if number >= 300 else 0.0)) for number in range(600)]
    triggers = Triggers(float(ROW_S))
    assert [change for each in rows for change in triggers.add(each)] == []
    manifest = Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[], watch=WatchPlan())
    run = RunDirectory.create(tmp_path / "run", manifest)
    (run.path / MINUTES).write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in rows))
    found = history(run, manifest, [], 0, lambda _: "")
    assert found is not None and sum(each.steps for each in found.periods) == 600 * 500
    assert [each.begin_s for each in found.periods] == sorted(each.begin_s for each in found.periods)
    assert {each.median_ms for each in found.periods} == {10.0}
