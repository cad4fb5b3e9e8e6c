"""The run directory: what is written is read again, and what is damaged costs itself only."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfperfkit import inside, store
from tfperfkit import writer as writer_module
from tfperfkit.analysis import analyze
from tfperfkit.errors import RunDirectoryError
from tfperfkit.report.json import encode
from tfperfkit.store import Manifest, RunDirectory, read_stream
from tfperfkit.writer import StreamWriter

MANIFEST = Manifest(tfperfkit_run=store.SCHEMA, argv=["train.py"], cwd=".", python="python", probes=["lines"])


def written(path: Path, *records: Any) -> list[Any]:
    """What is read after these records were written."""
    writer = StreamWriter(path)
    for record in records:
        writer.append(record)
    writer.close()
    return list(read_stream(path))


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
    with pytest.raises(RunDirectoryError, match="can't write the run directory .*--out"):
        RunDirectory.create(tmp_path / "file" / "run", MANIFEST)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{}", "not a run directory"),
        ("[]", "not a run directory"),
        ("{\"tfperfkit_run\": 1", "not a run directory"),
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
        file.truncate(inside.MOST_BYTES + 1)
    assert RunDirectory(tmp_path).read_json("end.json") is None


# --- streams ----------------------------------------------------------------------------------------------------------

_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=3
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.lists(_json, max_size=10))
def test_records_come_back_in_order(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    assert written(tmp_path_factory.mktemp("stream") / "x.jsonl", *records) == records


@settings(deadline=None)
@given(st.lists(_json, min_size=1, max_size=8), st.data())
def test_cut_anywhere_loses_the_last_line_only(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("stream") / "x.jsonl"
    written(path, *records)
    content = path.read_bytes()
    kept = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:kept])
    assert list(read_stream(path)) == records[: content[:kept].count(b"\n")]


@pytest.mark.parametrize("damage", [b"{\n", b"\xff\xfe\n", b"\n", b"\x00\x00\n", b"[" * 100_000 + b"\n", b"1 2\n"])
def test_damaged_line_costs_itself_only(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"1\n" + damage + b"2\n")
    assert list(read_stream(path)) == [1, 2]


def test_missing_stream_is_empty(tmp_path: Path) -> None:
    assert list(read_stream(tmp_path / "none.jsonl")) == []
    assert list(read_stream(tmp_path)) == []  # a folder


def test_nothing_appended_makes_no_file(tmp_path: Path) -> None:
    assert written(tmp_path / "x.jsonl") == []
    assert not (tmp_path / "x.jsonl").exists()


def test_numbers_of_numpy_stay_numbers(tmp_path: Path) -> None:
    record = {"a": np.float32(0.5), "b": np.int64(3), "c": np.array([[1, 2], [3, 4]]), "d": np.bool_(True)}
    assert written(tmp_path / "x.jsonl", record) == [{"a": 0.5, "b": 3, "c": [[1, 2], [3, 4]], "d": True}]


def test_foreign_things_are_written_as_words(tmp_path: Path) -> None:
    assert written(tmp_path / "x.jsonl", [Path("a/b"), ValueError("why")]) == [["a/b", "why"]]


class Unwritable:
    def __str__(self) -> str:
        raise RuntimeError("has no words")


def test_record_that_cannot_be_written_costs_itself_only(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path / "x.jsonl")
    circle: list[Any] = []
    circle.append(circle)
    for record in (1, Unwritable(), 2, circle):
        writer.append(record)
    writer.flush()
    writer.append(3)
    writer.close()
    assert list(read_stream(tmp_path / "x.jsonl")) == [1, 2, 3]
    assert writer.lost == 2
    assert writer.failure is not None and writer.failure.startswith(writer_module.NOT_JSON)
    assert "has no words" in writer.failure


def test_stream_ends_at_its_limit(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path / "x.jsonl", limit_bytes=100)
    for number in range(10):
        writer.append("x" * 20)
        writer.flush()
        assert (tmp_path / "x.jsonl").stat().st_size <= 100, number
    assert len(list(read_stream(tmp_path / "x.jsonl"))) == 4
    assert writer.lost == 6
    assert writer.failure is not None and writer.failure.startswith("more than")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_full_disk_ends_the_stream_without_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.symlink_to("/dev/full")
    writer = StreamWriter(path)
    for _ in range(3):
        writer.append("x")
        writer.flush()
    writer.close()
    assert writer.failure == os.strerror(28)
    assert writer.lost == 3


@pytest.mark.parametrize("room_again", [True, False])
@pytest.mark.parametrize("before", [b"", b"0\n"])
def test_half_a_line_is_taken_back(
    before: bytes, room_again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk fills in the middle of a write: what was there stays, also what another writer had left."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(before)
    writer = StreamWriter(path)
    writer.append(1)
    writer.flush()
    write = os.write

    def half(descriptor: int, data: Any) -> int:
        write(descriptor, bytes(data)[:3])
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "write", half)
    writer.append(22222)
    writer.append(33333)
    writer.flush()
    assert path.read_bytes() == before + b"1\n"
    assert (writer.lost, writer.failure) == (0, None)
    if room_again:
        monkeypatch.undo()
    writer.append(4)
    writer.close()
    assert path.read_bytes() == before + (b"1\n22222\n33333\n4\n" if room_again else b"1\n")
    assert (writer.lost, writer.failure) == ((0, None) if room_again else (3, os.strerror(28)))


def test_whole_lines_that_a_full_disk_took_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, write = StreamWriter(tmp_path / "x.jsonl"), os.write

    def some(descriptor: int, data: Any) -> int:
        if os.fstat(descriptor).st_size >= 9:
            raise OSError(28, os.strerror(28))
        return write(descriptor, bytes(data)[: 9 - os.fstat(descriptor).st_size])

    monkeypatch.setattr(os, "write", some)
    for number in range(11, 21):
        writer.append(number)
    writer.close()
    assert (tmp_path / "x.jsonl").read_bytes() == b"11\n12\n13\n"
    assert writer.lost == 7


def test_what_is_held_back_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "MAX_HELD_BYTES", 100)
    (tmp_path / "file").write_text("")
    writer = StreamWriter(tmp_path / "file" / "x.jsonl")
    for number in range(10):
        writer.append("x" * 17)
        writer.flush()
        assert (writer.failure is None) == (number < 5), number
    assert writer.lost == 10


def test_folder_that_vanished_ends_the_stream_without_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    writer = StreamWriter(tmp_path / "file" / "x.jsonl")
    writer.append(1)
    writer.close()
    assert writer.failure
    assert writer.lost == 1


def test_what_comes_after_the_end_is_not_written(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path / "x.jsonl")
    writer.append(1)
    writer.close()
    writer.append(2)
    writer.close()
    assert list(read_stream(tmp_path / "x.jsonl")) == [1]


def test_stream_that_nobody_flushes_is_written_all_the_same(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path / "x.jsonl")
    for number in range(10_000):
        writer.append(number)
    assert len(list(read_stream(tmp_path / "x.jsonl"))) >= 4096


def test_threads_append_while_others_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every record is there once, and those of one thread are in its order."""
    monkeypatch.setattr(writer_module, "_PAUSE_RECORDS", 7)  # the appending threads write often too
    writer = StreamWriter(tmp_path / "x.jsonl")
    threads, each = 6, 3000
    done = threading.Event()

    def append(thread: int) -> None:
        for number in range(each):
            writer.append([thread, number])

    def flush() -> None:
        while not done.is_set():
            writer.flush()

    appending = [threading.Thread(target=append, args=(thread,)) for thread in range(threads)]
    flushing = [threading.Thread(target=flush) for _ in range(2)]
    for thread in (*appending, *flushing):
        thread.start()
    for thread in appending:
        thread.join()
    done.set()
    for thread in flushing:
        thread.join()
    writer.close()
    found = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    for thread_number in range(threads):
        assert [number for thread, number in found if thread == thread_number] == list(range(each))
    assert writer.lost == 0


def test_append_from_within_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback of the garbage collector, or a signal's handler, may come while we write, on the same thread."""
    writer = StreamWriter(tmp_path / "x.jsonl")
    write, told = os.write, []

    def interrupted(descriptor: int, data: Any) -> int:
        if not told:
            told.append(True)
            writer.append("inner")
            writer.flush()
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", interrupted)
    writer.append("outer")
    writer.close()
    assert list(read_stream(tmp_path / "x.jsonl")) == ["outer", "inner"]


# --- a run as a whole -------------------------------------------------------------------------------------------------

_SESSION: dict[str, list[Any]] = {
    "sites": [
        {
            "id": 1, "kind": "apply", "target": 1, "file": "train.py", "line": 3,
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


def test_a_damaged_count_of_steps_does_not_fill_the_memory(tmp_path: Path) -> None:
    session = json.loads(json.dumps(_SESSION))
    session["markers"][3][3] = 1 << 60
    assert analyze(stored(tmp_path / "run", session).path).steps.count < 1000


@settings(deadline=None)
@given(st.data())
def test_whatever_is_damaged_the_report_comes(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any value of any record is replaced by any other."""
    session = json.loads(json.dumps(_SESSION))
    for _ in range(data.draw(st.integers(1, 4))):
        record = data.draw(st.sampled_from(session[data.draw(st.sampled_from(sorted(session)))]))
        key = data.draw(st.sampled_from(sorted(record) if isinstance(record, dict) else range(len(record))))
        record[key] = data.draw(_json)
    report = analyze(stored(tmp_path_factory.mktemp("damaged") / "run", session).path)
    assert report.run.exit_code == 0
    assert encode(report)
