"""Mistakes of a probe while it recorded: in fields, in recordings from before November 2026 in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tfperfkit.analysis.analyze import analyze
from tfperfkit.storage.run_directory import SCHEMA, Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams

FILE = "probes/retrace/traces.jsonl"
STOPPED = {"kind": "note", "probe": "retrace", "text": "stopped following the steps: ValueError: no"}
LOST = {
    "kind": "lost",
    "file": FILE,
    "reason": "a record can't be written as JSON (TypeError: x)",
}
FULL = {"kind": "lost", "file": FILE, "reason": "no space left on device"}
CASES = [
    ({**STOPPED, "stopped": True}, "failed", "ValueError: no"),
    (STOPPED, "failed", "ValueError: no"),
    ({**STOPPED, "text": "stopped following the steps of the dance", "stopped": False}, "ok", ""),
    ({**LOST, "not_json": True}, "failed", "while recording: a record can't be written"),
    (LOST, "failed", "while recording: a record can't be written"),
    ({**FULL, "not_json": False}, "cut", "incomplete: no space left"),
    (FULL, "cut", "incomplete: no space left"),
]


@pytest.mark.parametrize(("event", "status", "reason"), CASES)
def test_how_a_probe_failed(event: dict[str, Any], status: str, reason: str, tmp_path: Path) -> None:
    manifest = Manifest(tfperfkit_run=SCHEMA, argv=["train.py"], cwd="", python="", probes=["retrace"], started_ns=1)
    run = RunDirectory.create(tmp_path / "run", manifest)
    run.write_json("agent.json", {"versions": {"tensorflow": "2.21.0"}, "armed_ns": 2})
    streams = Streams(run)
    streams.session("events").append(event)
    streams.close()
    outcome = analyze(run.path).probes[0]
    assert outcome.status == status
    assert reason in (outcome.reason or "")


REFUSED = [
    {"kind": "window", "probe": "tfprof", "step": 5, "begin_ns": 3},
    {"kind": "probe", "probe": "tfprof", "status": "skipped", "reason": "the script has it"},
]
OPENED: list[dict[str, Any]] = [
    {"kind": "window", "probe": "tfprof", "step": 9, "begin_ns": 4},
    {"kind": "opened", "probe": "tfprof", "ns": 5},
]
AFTER = [{**OPENED[0], "again": True}, OPENED[1]]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (REFUSED, "the script has it"),
        (REFUSED + AFTER, "the script has it"),  # in the steps there was none
        (REFUSED + OPENED, "no trace was recorded"),
    ],
)
def test_why_a_window_was_put_off_is_no_reason_once_it_has_opened(
    events: list[dict[str, Any]], reason: str, tmp_path: Path
) -> None:
    manifest = Manifest(tfperfkit_run=SCHEMA, argv=["train.py"], cwd="", python="", probes=["tfprof"], started_ns=1)
    run = RunDirectory.create(tmp_path / "run", manifest)
    run.write_json("agent.json", {"versions": {"tensorflow": "2.21.0"}, "armed_ns": 2})
    streams = Streams(run)
    for event in events:
        streams.session("events").append(event)
    streams.close()
    outcome = analyze(run.path).probes[0]
    assert reason in (outcome.reason or "")
