"""The one line with the first finding while a script runs."""

from __future__ import annotations

import io
import os
import pty
import shutil
import time
from pathlib import Path

import msgspec
import pytest
from recorded_runs import study_recorded

from tfperfkit.clock import now_ns
from tfperfkit.launch.first_finding import ENDING, FirstFinding, describe_first, is_wanted
from tfperfkit.storage.run_directory import PHASES, RunDirectory


@pytest.fixture
def running(tmp_path: Path) -> RunDirectory:
    """Return a recorded run as it was before its script ended."""
    report, _ = study_recorded("faces_from_archive")
    folder = tmp_path / "run"
    shutil.copytree(report.run.directory, folder)
    (folder / "exit.json").unlink(missing_ok=True)
    return RunDirectory.open(folder)[0]


def phases(run: RunDirectory, *rows: list[object]) -> None:
    (run.session / f"{PHASES}.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def test_the_line_comes_once_after_the_windows_and_names_the_first_finding(running: RunDirectory) -> None:
    file = io.StringIO()
    line = FirstFinding(running, file, quiet_ns=0)
    phases(running, ["lines", "open", now_ns()])
    line.look()
    assert line._process is None, "a window is open"
    phases(running, ["lines", "open", now_ns()], ["lines", "closed", now_ns()])
    until = time.monotonic() + 120
    while not file.getvalue() and time.monotonic() < until:
        line.look()
        time.sleep(0.05)
    said = file.getvalue()
    assert said.startswith("\ntfperf so far: faces.npz ") and said.endswith(f" {ENDING}\n")
    assert said.count("\n") == 2
    line.look()
    line.close()
    assert file.getvalue() == said


def test_it_ends_with_the_script(running: RunDirectory) -> None:
    line = FirstFinding(running, io.StringIO(), quiet_ns=0)
    phases(running, ["lines", "closed", now_ns()])
    line.look()
    process = line._process
    assert process is not None
    line.close()
    assert process.poll() is not None
    line.look()
    assert line._process is None


def test_a_report_can_be_made_at_any_moment_of_a_run(running: RunDirectory) -> None:
    assert "faces.npz" in describe_first(running.path)
    for name in ("agent.json", "records.jsonl"):
        (running.path / name).unlink()
    assert isinstance(describe_first(running.path), str)


def test_only_a_terminal_gets_it_and_only_if_nobody_asked_for_quiet(tmp_path: Path) -> None:
    outer, inner = pty.openpty()
    with os.fdopen(inner, "w") as terminal, (tmp_path / "log").open("w") as log:
        assert is_wanted(terminal, quiet=False, alone=True)
        assert not is_wanted(terminal, quiet=True, alone=True)
        assert not is_wanted(terminal, quiet=False, alone=False)
        assert not is_wanted(log, quiet=False, alone=True)
        assert not is_wanted(None, quiet=False, alone=True)
    os.close(outer)
