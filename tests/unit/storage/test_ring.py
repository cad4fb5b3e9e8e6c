"""Rings of files: the first and the last records are there, and the files never take more."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.storage import ring as ring_module
from tfperfkit.storage import stream_writer
from tfperfkit.storage.ring import Ring, files
from tfperfkit.storage.run_directory import Manifest, RunDirectory

SIZE, KEEP = 2000, 3


def _written(folder: Path, count: int, **options: Any) -> Ring:
    ring = Ring(folder / "details", SIZE, KEEP, **options)
    stream = ring.stream("session/markers")
    for number in range(count):
        stream.append([number, "x" * 20])
        if number % 10 == 9:
            ring.flush()
    ring.close()
    return ring


def _run(folder: Path) -> RunDirectory:
    return RunDirectory.create(folder / "run", Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[]))


def test_the_first_and_the_last_are_kept_in_bounded_space(tmp_path: Path) -> None:
    run = _run(tmp_path)
    sizes = []
    for count in (2000, 20_000):
        for file in (run.path / "details").glob("*"):
            file.unlink()
        _written(run.path, count)
        sizes.append(sum(file.stat().st_size for file in (run.path / "details").iterdir()))
        read = [row[0] for row in RunDirectory(run.path).records("session/markers.jsonl")]
        assert read == sorted(read) and len(read) == len(set(read))
        assert (read[0], read[-1]) == (0, count - 1)
        assert len(read) < 400
    assert max(sizes) < (KEEP + 2) * 1.4 * SIZE
    numbers = [number for number, _ in files(run.path, "details")]
    assert numbers[0] == 0 and len(numbers) == KEEP + 1


def test_nothing_is_lost_before_the_first_file_is_dropped(tmp_path: Path) -> None:
    run = _run(tmp_path)
    _written(run.path, 150)
    assert [row[0] for row in run.records("session/markers.jsonl")] == list(range(150))


def test_each_file_says_where_it_stands(tmp_path: Path) -> None:
    run = _run(tmp_path)
    told = iter(range(100, 1000))
    _written(run.path, 1000, head=lambda: [next(told), 7])
    rows = list(run.records(f"{ring_module.SEGMENTS}.jsonl"))
    assert rows[0] == [0, 100, 7]
    assert rows[-1][0] == rows[-1][1] - 100 > KEEP


def test_the_first_is_dropped_too_where_it_is_not_pinned(tmp_path: Path) -> None:
    _written(tmp_path, 2000, pinned=False)
    numbers = [number for number, _ in files(tmp_path, "details")]
    assert numbers[0] > 0 and len(numbers) == KEEP


def test_after_a_full_disk_there_is_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    ring = Ring(tmp_path / "run" / "details", SIZE, KEEP)
    stream = ring.stream("a")
    monkeypatch.setattr(stream_writer, "MAX_HELD_BYTES", 500)
    write, full = os.write, True

    def refuse(descriptor: int, data: Any) -> int:
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(stream_writer.os, "write", refuse)
    for number in range(2000):  # days of records: nothing is raised, nothing grows
        stream.append(number)
        ring.flush()
    full = False
    for number in range(2000, 2100):
        stream.append(number)
        ring.flush()
    ring.close()
    kept = b"".join(file.read_bytes() for file in sorted((tmp_path / "run" / "details").iterdir()))
    assert b'["a",2099]' in kept


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    ring = Ring(tmp_path / "details", SIZE, KEEP)
    ring.stream("a").append(1)
    ring.discard()
    ring.stream("a").append(2)
    ring.flush()
    ring.close()
    left = b"".join(file.read_bytes() for file in (tmp_path / "details").glob("*"))
    assert b'["a",' not in left


def test_other_names_in_the_folder_are_not_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "details"
    folder.mkdir()
    for name in ("1.jsonl", "000001.json", "٠٠٠٠٠١.jsonl", "000002.jsonl", "x.jsonl"):
        (folder / name).write_text("")
    assert files(tmp_path, "details") == [(2, "details/000002.jsonl")]
    assert files(tmp_path, "nothing") == []
