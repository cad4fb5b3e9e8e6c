"""Streams: what is appended is written whole, in order and once; what can't be written costs itself only."""

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
from stream_records import json_values, written

from tfperfkit.storage import stream_writer as writer_module
from tfperfkit.storage.run_directory import read_stream
from tfperfkit.storage.stream_writer import StreamWriter


@settings(deadline=None)
@given(st.lists(json_values, max_size=10))
def test_records_come_back_in_order(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    assert written(tmp_path_factory.mktemp("stream") / "x.jsonl", *records) == records


@settings(deadline=None)
@given(st.lists(json_values, min_size=1, max_size=8), st.data())
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
    assert writer.not_json
    assert writer.failure is not None and "has no words" in writer.failure


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
    """Call back from the garbage collector, or a signal's handler, while we write, on the same thread."""
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
