"""``tfperf export``: what probes add, and a probe that fails."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tfperfkit import registry
from tfperfkit.errors import Unavailable, UsageError
from tfperfkit.export.command import MAX_SLICES, export
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.timeline import Slice, Timeline


class Probe:
    """Adds two slices, or does what it was made to do instead."""

    api, name, cost, claims = 1, "mine", None, frozenset[str]()

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure

    def record(self, recording: Any) -> Any: ...

    def analyze(self, capture: Any) -> Any: ...

    def timeline(self, capture: Any, upper: int, tick: Any) -> Timeline:
        if self.failure is not None:
            raise self.failure
        assert upper == MAX_SLICES and capture.directory.name == "mine"
        return Timeline(self.slices(), ("read from a file",))

    def slices(self) -> Iterator[Slice]:
        yield Slice("mine", "waiting", "lock", 3_000_000, 500_000, {"owner": "thread 2"})
        yield Slice("mine", "waiting", "disk", 4_000_000, 500_000)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    manifest = Manifest(
        tfperfkit_run=1, argv=["train.py"], cwd="/", python="python", probes=["mine", "other"], started_ns=1_000_000
    )
    return RunDirectory.create(tmp_path / "run", manifest).path


def given(monkeypatch: pytest.MonkeyPatch, probe: Probe) -> None:
    """``other`` is a probe that has nothing for the timeline."""
    other = SimpleNamespace(api=1, name="other", cost=None, claims=frozenset(), record=None, analyze=None)
    monkeypatch.setattr(registry, "available", dict)
    monkeypatch.setattr(registry, "load", lambda name, installed: probe if name == "mine" else other)


def test_any_probe_may_add_tracks(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, Probe())
    export(str(run), "perfetto", None)
    with gzip.open("run.trace.json.gz") as file:
        document = json.load(file)
    shown = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert [(event["name"], event["ts"], event["dur"]) for event in shown] == [("lock", 2000, 500), ("disk", 3000, 500)]
    assert shown[0]["args"] == {"owner": "thread 2"}
    assert document["otherData"]["notes"] == ["read from a file"]
    out = capsys.readouterr().out
    assert "2 events" in out and "note      read from a file" in out
    with pytest.raises(UsageError, match="no Python samples"):
        export(str(run), "speedscope", None)
    assert not Path("run.speedscope.json").exists()


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (Unavailable("no trace was recorded"), "nothing from the probe mine: no trace was recorded"),
        (KeyError("x"), "nothing from the probe mine, which failed: KeyError: 'x'"),
    ],
)
def test_a_probe_that_fails_is_a_note(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failure: Exception, words: str
) -> None:
    (run / "session" / "samples.jsonl").write_text('["stack",1,[["t.py",1,"main",2]],""]\n["s",5000000,1,7]\n')
    given(monkeypatch, Probe(failure))
    export(str(run), "perfetto", "out\x1b[2J.json.gz")
    export(str(run), "speedscope", "out\x1b[2J.speedscope.json")
    out = capsys.readouterr().out
    assert words in out and "\x1b" not in out
    assert Path("out\x1b[2J.speedscope.json").exists()


def test_what_breaks_while_writing_leaves_no_file(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaking(Probe):
        def slices(self) -> Iterator[Slice]:
            yield Slice("mine", "x", "y", 0, 1)
            raise Unavailable("the trace is damaged")

    given(monkeypatch, Breaking())
    with pytest.raises(Unavailable):
        export(str(run), "perfetto", None)
    assert [path.name for path in run.parent.iterdir()] == ["run"]
