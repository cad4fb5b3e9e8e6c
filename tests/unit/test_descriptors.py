"""A script may close every descriptor of its process and open files of its own: those are never written to by us."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.launch.keeper import Keeper
from tfperfkit.room import SMALL, Room
from tfperfkit.store import read_stream
from tfperfkit.writer import StreamWriter


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
    theirs = _closed_by_the_script(writer._descriptor, tmp_path / "theirs")
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
    assert room._descriptor is not None
    taken = os.dup(room._descriptor)
    assert list(tmp_path.iterdir()) == []
    assert os.fstat(taken).st_size == 8192
    room.free()
    room.free()
    assert os.fstat(taken).st_size == 0  # also for a child that holds it
    os.close(taken)


def test_room_whose_number_is_another_files_by_now(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"own")
    room = Room(tmp_path, SMALL)
    assert room._descriptor is not None
    theirs = _closed_by_the_script(room._descriptor, tmp_path / "theirs")
    room.free()
    assert os.read(theirs, 9) == b"own"
    os.close(theirs)


def test_the_keeper_never_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network drive whose session has ended raises what it likes."""
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
