"""The run directory: what is written is read again, and what is damaged costs itself only."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stream_records import json_values, written

from tfperfkit.analysis.analyze import analyze
from tfperfkit.errors import RunDirectoryError
from tfperfkit.report.json import encode
from tfperfkit.storage import run_directory, safe_reader
from tfperfkit.storage.run_directory import Manifest, RunDirectory

MANIFEST = Manifest(tfperfkit_run=run_directory.SCHEMA, argv=["train.py"], cwd=".", python="python", probes=["lines"])


# --- the directory ----------------------------------------------------------------------------------------------------


def test_run_is_made_and_opened(tmp_path: Path) -> None:
    made = RunDirectory.create(tmp_path / "a" / "run", MANIFEST)
    opened, manifest = RunDirectory.open(tmp_path / "a" / "run")
    assert manifest == MANIFEST
    assert opened.path == made.path
    assert made.session.is_dir() and made.trace.is_dir()


def test_run_is_never_written_over(tmp_path: Path) -> None:
    RunDirectory.create(tmp_path, MANIFEST)
    with pytest.raises(RunDirectoryError, match="already holds a run"):
        RunDirectory.create(tmp_path, MANIFEST)


def test_of_two_runs_at_once_one_is_refused(tmp_path: Path) -> None:
    refused, together = [], threading.Barrier(8)

    def create() -> None:
        together.wait()
        try:
            RunDirectory.create(tmp_path / "r", MANIFEST)
        except RunDirectoryError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7 and all("already holds a run" in text for text in refused)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="can't write the run directory .*--run-dir"):
        RunDirectory.create(tmp_path / "file" / "run", MANIFEST)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "not a run directory"),
        ("[]", "not a run directory"),
        ('{"tfperfkit_run": 1', "not a run directory"),
        ("\xff\x00", "not a run directory"),
        ("[" * 100_000, "not a run directory"),
        ('{"tfperfkit_run": 2}', "schema 2; this version reads schema 1"),
        ('{"tfperfkit_run": "1"}', "schema '1'"),
        ('{"tfperfkit_run": 1}', "run.json is damaged"),
        ('{"tfperfkit_run": 1, "argv": 3}', "run.json is damaged"),
    ],
)
def test_what_is_not_our_run_is_refused_in_one_line(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content, encoding="latin-1")
    with pytest.raises(RunDirectoryError) as caught:
        RunDirectory.open(tmp_path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_and_foreign_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="no such run"):
        RunDirectory.open(tmp_path / "none")
    with pytest.raises(RunDirectoryError, match="it has no run.json"):
        RunDirectory.open(tmp_path)


def test_later_fields_of_the_manifest_are_passed_over(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, MANIFEST)
    raw = {**run.read_json("run.json"), "added_later": True}
    run.write_json("run.json", raw)
    assert RunDirectory.open(tmp_path)[1] == MANIFEST


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc", "a/..", "x/"])
def test_name_of_a_probe_cannot_lead_out(name: str, tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="not a probe's name"):
        RunDirectory(tmp_path).probe(name)


@settings(deadline=None)
@given(st.text(max_size=20))
def test_folder_of_a_probe_lies_in_the_run(name: str) -> None:
    run = RunDirectory(Path("run"))
    try:
        folder = run.probe(name)
    except RunDirectoryError:
        return
    assert folder.parent == Path("run/probes")
    assert folder.name == name


def test_json_file_is_replaced_whole(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.write_json("end.json", {"a": 1})
    run.write_json("end.json", {"b": 2})
    assert run.read_json("end.json") == {"b": 2}
    assert [file.name for file in tmp_path.iterdir()] == ["end.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_damaged_json_file_reads_as_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "end.json").write_bytes(content)
    assert RunDirectory(tmp_path).read_json("end.json") is None


def test_huge_json_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "end.json").open("wb") as file:
        file.truncate(safe_reader.MAX_BYTES + 1)
    assert RunDirectory(tmp_path).read_json("end.json") is None


# --- a run as a whole -------------------------------------------------------------------------------------------------

_SESSION: dict[str, list[Any]] = {
    "sites": [
        {
            "id": 1,
            "kind": "apply",
            "target": 1,
            "file": "train.py",
            "line": 3,
            "loops": [{"file": "train.py", "line": 2}],
        }
    ],
    "markers": [[1, 1000 * number, 1000 * number + 500, 1] for number in range(1, 13)],
    "events": [
        {"kind": "warm", "step": 3, "ns": 3000},
        {"kind": "window", "probe": "lines", "step": 5, "begin_ns": 5600, "steps": 2},
        {"kind": "opened", "probe": "lines", "ns": 5700},
        {"kind": "window_end", "probe": "lines", "step": 7, "end_ns": 7600, "status": "ok"},
        {"kind": "note", "text": "a limit"},
        {"kind": "lost", "file": "probes/lines/x.jsonl", "reason": "more than 24 MB"},
        {"kind": "end", "ns": 13000},
    ],
    "cost": [[1000, 1, 1], [13000, 90, 60]],
}


def stored(folder: Path, session: dict[str, list[Any]]) -> RunDirectory:
    run = RunDirectory.create(folder, Manifest(tfperfkit_run=1, argv=["train.py"], cwd=".", python="", probes=[]))
    run.write_json("agent.json", {"pid": 1, "versions": {"python": "3.11"}, "cpus": 2})
    run.write_json("exit.json", {"status": 0, "ended_ns": 14000})
    for name, records in session.items():
        written(run.session / f"{name}.jsonl", *records)
    return run


def test_report_of_a_stored_run(tmp_path: Path) -> None:
    report = analyze(stored(tmp_path / "run", _SESSION).path)
    assert (report.steps.count, report.run.status) == (12, "finished")
    assert [(window.name, window.first_step, window.steps) for window in report.windows] == [("lines", 5, 2)]
    assert report.notes == ("a limit", "probes/lines/x.jsonl is incomplete: more than 24 MB")


def test_lost_samples_are_named_and_nothing_is_reported_of_the_rest(tmp_path: Path) -> None:
    """Cut the end of a stream that reached its size: the report of the steady steps stays."""
    samples = [["rate", 0, 100], ["stack", 1, [["a.py", 1, "f", 2]], "", "python", ""]]
    samples += [["s", 2000 + 100 * number, 1, 1] for number in range(100)]
    for reason, told in (("Too many open files", False), ("more than 24 MB", True)):
        events = [*_SESSION["events"], {"kind": "lost", "file": "session/samples.jsonl", "reason": reason}]
        report = analyze(stored(tmp_path / reason, {**_SESSION, "events": events, "samples": samples}).path)
        assert f"session/samples.jsonl is incomplete: {reason}" in report.notes
        assert (report.steps.breakdown_ms is not None) == told
        assert any("Stack samples were lost" in note for note in report.notes) != told


def test_streams_in_one_file_are_read_as_if_each_had_its_own(tmp_path: Path) -> None:
    run = stored(tmp_path / "run", {})
    lines = [json.dumps([f"session/{name}", record]) for name, records in _SESSION.items() for record in records]
    (run.path / "records.jsonl").write_text("\n".join(['["session/cost",[1', *lines, '{"no": "stream"}', '["x",1']))
    report = analyze(run.path)
    assert (report.steps.count, report.notes[0]) == (12, "a limit")
    assert list(run.records("session/cost.jsonl")) == _SESSION["cost"]
    assert list(run.records("session/none.jsonl")) == []


def test_a_damaged_count_of_steps_does_not_fill_the_memory(tmp_path: Path) -> None:
    session = json.loads(json.dumps(_SESSION))
    session["markers"][3][3] = 1 << 60
    assert analyze(stored(tmp_path / "run", session).path).steps.count < 1000


@settings(deadline=None)
@given(st.data())
def test_whatever_is_damaged_the_report_comes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Any value of any record is replaced by any other."""
    session = json.loads(json.dumps(_SESSION))
    for _ in range(data.draw(st.integers(1, 4))):
        record = data.draw(st.sampled_from(session[data.draw(st.sampled_from(sorted(session)))]))
        key = data.draw(st.sampled_from(sorted(record) if isinstance(record, dict) else range(len(record))))
        record[key] = data.draw(json_values)
    report = analyze(stored(tmp_path_factory.mktemp("damaged") / "run", session).path)
    assert report.run.exit_code == 0
    assert encode(report)
