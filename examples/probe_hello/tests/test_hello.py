"""The probe on made recordings: no TensorFlow, no training script, no clock."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest
from probe_hello import HelloProbe, watcher

from tfperfkit.model import ProbeResult
from tfperfkit.offers import GarbageCollections
from tfperfkit.testing import FakeRecording, capture_of, check_probe, check_result, even_steps, missing_pages

STEP_NS = 10_000_000


def analyzed(folder: Path, *records: Any, steps: int = 10, **options: Any) -> ProbeResult:
    """The result for these records in a run of even steps of 10 ms, the first two of them warm-up."""
    recording = FakeRecording(folder, options=options, probe=HelloProbe)
    for record in records:
        recording.append(watcher.STREAM, record)
    result = HelloProbe().analyze(capture_of(recording, steps=even_steps(steps, STEP_NS, warmup=2)))
    check_result(result)
    return result


def full(step: int, share: float, place: tuple[str, int, str] | None = None) -> list[Any]:
    """Return a record of a full collection that takes this share of a step (from 1)."""
    begin = (step - 1) * STEP_NS
    return [begin, begin + int(share * STEP_NS), 2, place]


def test_contract(tmp_path: Path) -> None:
    check_probe(HelloProbe, tmp_path)


def test_collections_are_recorded_while_it_is_open(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    before = list(gc.callbacks)
    with HelloProbe().record(recording):
        gc.collect(0)
        gc.collect()
        line = sys._getframe().f_lineno - 1
    gc.collect()
    assert gc.callbacks == before
    records = list(capture_of(recording).records(watcher.STREAM))
    assert all(begin <= end for begin, end, _, _ in records)
    assert [place for _, _, generation, place in records if generation == 2] == [
        [__file__, line, "test_collections_are_recorded_while_it_is_open"]
    ]
    assert __file__ in recording.sources


def test_it_stops_after_the_most_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "MAX", 3)
    recording = FakeRecording(tmp_path)
    with HelloProbe().record(recording):
        for _ in range(5):
            gc.collect()
    assert len(list(capture_of(recording).records(watcher.STREAM))) == 3
    assert recording.notes == ["only the first 3 collections were timed"]


def test_a_killed_run_keeps_what_it_had(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    watching = HelloProbe().record(recording)
    watching.__enter__()
    gc.collect()
    result = HelloProbe().analyze(capture_of(recording))
    watching.__exit__(None, None, None)
    assert result.data is not None
    assert result.data.collections >= 1


def test_full_collection_in_every_step(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import gc\ngc.collect()\n")
    recording = FakeRecording(tmp_path, probe=HelloProbe)
    recording.keep_source(str(script))
    for step in range(1, 11):
        recording.append(watcher.STREAM, full(step, 0.5, (str(script), 2, "main")))
    result = HelloProbe().analyze(capture_of(recording, steps=even_steps(10, STEP_NS, warmup=2)))
    (finding,) = result.findings
    assert (finding.code, finding.share_of_step, finding.gain.likely) == ("HEL001", 0.5, 2.0)
    assert [(place.file, place.line) for place in finding.where] == [(str(script), 2)]
    assert {item.name: item.value for item in finding.evidence}["full collections"] == 8
    assert "Take the call of gc.collect() out of the loop" in finding.advice


def test_full_collections_at_other_lines_ask_for_freeze(tmp_path: Path) -> None:
    (finding,) = analyzed(tmp_path, full(5, 0.9), full(7, 0.9)).findings
    assert "gc.freeze()" in finding.advice
    assert finding.where == ()


def test_healthy_run_has_a_table_and_no_finding(tmp_path: Path) -> None:
    young = [[step * STEP_NS, step * STEP_NS + 20_000, 0, None] for step in range(10)]
    result = analyzed(tmp_path, *young, full(6, 0.1))
    assert result.findings == ()
    (table,) = result.tables
    assert table.rows[0][:3] == ("0", 8, 1.0)
    assert table.rows[2][5] == pytest.approx(0.1 / 8)


def test_warm_up_does_not_count(tmp_path: Path) -> None:
    assert analyzed(tmp_path, full(1, 0.9), full(2, 0.9)).findings == ()


def test_threshold_is_an_option(tmp_path: Path) -> None:
    assert analyzed(tmp_path, full(6, 0.1), min_share=0.01).findings
    assert not analyzed(tmp_path / "other", full(6, 0.9), min_share=0.5).findings


def test_it_offers_when_python_collected(tmp_path: Path) -> None:
    (offer,) = analyzed(tmp_path, full(6, 0.1), full(3, 0.5)).offers
    assert offer == GarbageCollections(spans=((20_000_000, 25_000_000), (50_000_000, 51_000_000)))


def test_damaged_records_cost_themselves_only(tmp_path: Path) -> None:
    result = analyzed(tmp_path, {}, [1], ["a", "b", 2, None], full(6, 0.9))
    assert result.data.collections == 1


def test_without_steps_there_is_no_finding(tmp_path: Path) -> None:
    result = analyzed(tmp_path, full(6, 0.9), steps=0)
    assert result.findings == () and result.tables == ()
    assert "no training steps" in result.summary


def test_every_finding_has_its_page() -> None:
    assert missing_pages(frozenset({"HEL001", "HEL002"}), Path(__file__).parents[1] / "probe_hello" / "pages") == []
