"""A script may close every descriptor of its process and open files of its own: those are never written to by us."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.analysis.gather import lost_samples
from tfperfkit.instruments.memory.process import Resident
from tfperfkit.launch.keeper import Keeper
from tfperfkit.storage.reserved_space import SMALL, Room
from tfperfkit.storage.run_directory import Manifest, RunDirectory, read_stream
from tfperfkit.storage.stream_set import Streams
from tfperfkit.storage.stream_writer import StreamWriter


def _closed_by_the_script(descriptor: int, file: Path) -> int:
    os.close(descriptor)
    theirs = os.open(file, os.O_RDWR | os.O_CREAT)
    if theirs != descriptor:  # some other number was free
        os.dup2(theirs, descriptor)
        os.close(theirs)
    return descriptor


def test_a_stream_whose_number_is_another_files_by_now(tmp_path: Path) -> None:
    writer = StreamWriter(tmp_path / "s.jsonl")
    writer.append(1)
    writer.flush()
    theirs = _closed_by_the_script(writer._file._handle, tmp_path / "theirs")
    writer.append(2)
    writer.flush()
    writer.append(3)
    writer.close()
    os.write(theirs, b"own")  # still open
    os.close(theirs)
    assert (tmp_path / "theirs").read_bytes() == b"own"
    assert list(read_stream(tmp_path / "s.jsonl")) == [1, 2, 3]
    assert (writer.lost, writer.failure) == (0, None)


def test_room_has_no_name_and_is_given_back(tmp_path: Path) -> None:
    room = Room(tmp_path, SMALL)
    taken = os.dup(room._file._handle)
    assert list(tmp_path.iterdir()) == []
    assert os.fstat(taken).st_size == 8192
    room.free()
    room.free()
    assert os.fstat(taken).st_size == 0  # also for a child that holds it
    os.close(taken)


def test_room_whose_number_is_another_files_by_now(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"own")
    room = Room(tmp_path, SMALL)
    theirs = _closed_by_the_script(room._file._handle, tmp_path / "theirs")
    room.free()
    assert os.read(theirs, 9) == b"own"
    os.close(theirs)


def test_the_keeper_never_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a network drive, whose session has ended, raise any error."""
    (tmp_path / "run.json").write_text("{}")
    keeper = Keeper(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    keeper.look()
    assert keeper.restore() is False
    keeper.close()


def test_an_interrupted_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, write = StreamWriter(tmp_path / "x.jsonl"), os.write

    def interrupted(descriptor: int, data: Any) -> int:
        write(descriptor, bytes(data)[:7])
        raise KeyboardInterrupt

    for number in range(10, 20):
        writer.append(number)
    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        writer.flush()
    monkeypatch.undo()
    writer.append(20)
    writer.close()
    assert list(read_stream(tmp_path / "x.jsonl")) == list(range(10, 21))


def _held() -> set[int]:
    return {int(name) for name in os.listdir("/proc/self/fd")}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not list descriptors")
def test_all_streams_take_one_number_that_no_script_comes_to(tmp_path: Path) -> None:
    before = _held()
    streams = _streams(tmp_path)
    for number in range(30):
        streams.stream(f"probes/x/{number}").append(number)
    streams.flush()
    (ours,) = _held() - before
    assert ours >= 900 and not os.get_inheritable(ours)
    streams.close()
    assert _held() == before
    run = RunDirectory(tmp_path / "r")
    assert [list(run.records(f"probes/x/{number}.jsonl")) for number in range(30)] == [[n] for n in range(30)]


@pytest.fixture
def few() -> Iterator[None]:
    """As in a process that may have 100 descriptors."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few")
def test_a_process_with_few_descriptors_has_all_of_them(tmp_path: Path) -> None:
    before = _held()
    streams, memory = _streams(tmp_path), Resident()
    streams.keep_room()
    for number in range(3):
        streams.event("x", number=number)
        streams.flush()
        assert memory.read()[3] > 0
        assert _held() == before
    streams.close()
    events = RunDirectory(tmp_path / "r").records("session/events.jsonl")
    assert [event["number"] for event in events] == [0, 1, 2]


@pytest.mark.usefixtures("few")
def test_what_can_not_be_opened_now_is_written_later(tmp_path: Path) -> None:
    streams, taken = _streams(tmp_path), []
    streams.event("first")
    with contextlib.suppress(OSError):
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    streams.flush()
    for descriptor in taken:
        os.close(descriptor)
    streams.event("second")
    streams.close()
    events = RunDirectory(tmp_path / "r").records("session/events.jsonl")
    assert [event["kind"] for event in events] == ["first", "second"]


def test_what_is_lost_is_reported_in_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill a file that may grow no more: the events say so elsewhere, and the file is whole."""
    streams, write = _streams(tmp_path), os.write
    room = 30_000

    def limited(descriptor: int, data: Any) -> int:
        left = room - os.fstat(descriptor).st_size
        if left <= 0 and os.readlink(f"/proc/self/fd/{descriptor}").endswith("records.jsonl"):
            raise OSError(27, os.strerror(27))
        return write(descriptor, bytes(data)[: max(left, 1)])

    monkeypatch.setattr(os, "write", limited)
    for number in range(3000):
        streams.session("samples").append(["s", number, 1, 1])
    streams.event("end")
    streams.close()
    run = RunDirectory(tmp_path / "r")
    events = list(run.records("session/events.jsonl"))
    assert [event["kind"] for event in events] == ["end", "lost"]
    assert (events[1]["file"], events[1]["reason"]) == ("session/samples.jsonl", os.strerror(27))
    kept = [row[1] for row in run.records("session/samples.jsonl")]
    assert kept == list(range(len(kept))) and len(kept) > 100
    assert lost_samples(events)


def _streams(folder: Path) -> Streams:
    manifest = Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[])
    return Streams(RunDirectory.create(folder / "r", manifest))
