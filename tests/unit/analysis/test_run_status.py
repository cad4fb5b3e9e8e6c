"""The end of a run, from the files that are left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.analysis.run_status import ending_notes, run_info
from tfperfkit.clock import start_ticks, this_machine
from tfperfkit.storage.run_directory import Exit, Manifest, RunDirectory

MANIFEST = Manifest(tfperfkit_run=1, argv=["train.py"], cwd=".", python="python", probes=[])
HERE = {"pid": os.getpid(), "started_ticks": start_ticks(), "machine": this_machine()}
END = {"kind": "end", "ns": 7}


@pytest.mark.parametrize(
    ("agent", "events", "status", "words"),
    [
        (HERE, [], "running", "still runs"),
        ({**HERE, "started_ticks": 1}, [], "killed", "abruptly"),
        ({**HERE, "machine": "another"}, [], "unknown", "can't be seen"),
        ({**HERE, "started_ticks": None}, [], "unknown", "can't be seen"),
        (HERE, [END], "finished", "tfperf itself was killed"),
        (HERE, [{**END, "failed": True}], "failed", "tfperf itself was killed"),
        ({}, [], "killed", ""),
    ],
)
@pytest.mark.skipif(start_ticks() is None, reason="needs /proc")
def test_without_the_parents_word(
    tmp_path: Path, agent: dict[str, Any], events: list[dict[str, Any]], status: str, words: str
) -> None:
    info = run_info(RunDirectory(tmp_path), MANIFEST, agent, events)
    assert (info.status, info.exit_code) == (status, None)
    assert words in "".join(ending_notes(agent, events, info))


@pytest.mark.skipif(start_ticks() is None, reason="needs /proc")
def test_a_process_that_ended_and_was_not_fetched_does_not_run() -> None:
    """As those are that outlive their parent, in a container without an init."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert start_ticks(process.pid) is not None
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert start_ticks(process.pid) is None
    process.wait()


@pytest.mark.parametrize(
    ("exit_status", "interrupted", "expected"),
    [
        (0, False, ("finished", 0)),
        (3, False, ("failed", 3)),
        (-9, False, ("killed", 137)),
        (-2, True, ("interrupted", 130)),
    ],
)
def test_the_parents_word_counts(
    tmp_path: Path, exit_status: int, interrupted: bool, expected: tuple[str, int]
) -> None:
    ended = Exit(status=exit_status, ended_ns=9, interrupted=interrupted)
    info = run_info(RunDirectory(tmp_path), MANIFEST, HERE, [END], ended)
    assert (info.status, info.exit_code) == expected
    assert ending_notes(HERE, [END], info) == ()
