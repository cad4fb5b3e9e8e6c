"""tfperf's files in a table of descriptors of their own: the script's numbers are the script's."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tfperfkit import native
from tfperfkit.instruments.contention import Contention, all_threads_ns
from tfperfkit.instruments.memory.process import Resident
from tfperfkit.storage import descriptors
from tfperfkit.storage.descriptors import KeptFile, keep_apart, names_in, read_file
from tfperfkit.storage.reserved_space import SMALL, Room
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a session; files opened after the test are this process's again."""
    monkeypatch.setattr(descriptors, "_table", None)
    if not keep_apart():
        pytest.skip("_apart.c could not be built where tfperfkit was installed, or the system gives no own table")


def _numbers() -> set[int]:
    with os.scandir("/proc/self/fd") as entries:
        found = {int(entry.name) for entry in entries}
    return {number for number in found if _is_open(number)}  # without that of the listing


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Make a named pipe: who opens it waits for the other end, and who reads it waits for the data."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def _in_thread(call: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(call()))
    thread.start()
    return thread, results


def test_a_file_that_is_being_read_has_no_number_of_the_scripts(pipe: Path, tmp_path: Path) -> None:
    """The lost output: a thread of ours had a file open, the script closed all numbers that it did not know and opened
    its own file at that number, and then our thread closed it. The pipe forces this order."""
    known = _numbers()
    thread, read = _in_thread(lambda: read_file(pipe))
    writing = os.open(pipe, os.O_WRONLY)  # once it is open for reading, too
    for number in _numbers() - known - {writing}:
        os.close(number)
    theirs = [os.open(tmp_path / f"theirs {n}", os.O_RDWR | os.O_CREAT) for n in range(3)]
    os.write(writing, b"ours")
    os.close(writing)
    thread.join()
    assert read == [b"ours"]
    for number in theirs:
        assert os.write(number, b"own") == 3
        os.close(number)


def test_files_that_stay_open_have_no_number_either(tmp_path: Path) -> None:
    before = _numbers()
    streams, memory, contention = _streams(tmp_path), Resident(), Contention()
    streams.keep_room()
    streams.event("first")
    streams.flush()
    assert contention.waited_ns() is not None and memory.read()[3] > 0
    assert _numbers() == before
    streams.event("second")
    streams.free_room()
    streams.close()
    memory.close()
    events = RunDirectory(tmp_path / "r").records("session/events.jsonl")
    assert [event["kind"] for event in events] == ["first", "second"]


@pytest.fixture
def few() -> Iterator[None]:
    """As in a process that may have no more descriptors than it has."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few")
def test_a_script_that_limits_itself_does_not_limit_us(tmp_path: Path) -> None:
    assert not descriptors.scarce()
    file = KeptFile(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    file.open()
    assert file.write(b"12345") == 5 and file.size() == 5
    file.truncate(2)
    assert file.look(9) == b"12" and file.read(9, 1) == b"2"
    file.close()
    assert not file.is_open


def test_folders_and_threads() -> None:
    assert sorted(names_in("/proc/self/task")) == sorted(os.listdir("/proc/self/task"))
    many = names_in("/usr/lib/python3/dist-packages" if os.path.isdir("/usr/lib/python3/dist-packages") else "/usr/lib")
    assert len(many) == len(set(many)) and ".." not in many
    ran, waited = all_threads_ns() or (0, -1)
    assert ran > 0 and waited >= 0
    assert descriptors.spent_ns() > 0


def test_errors_are_those_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_file(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError):
        names_in(__file__)
    with pytest.raises(IsADirectoryError):
        read_file(tmp_path)
    full = KeptFile("/dev/full", os.O_WRONLY)
    full.open()
    with pytest.raises(OSError, match="No space"):
        full.write(b"x")
    full.close()


def test_whoever_waits_for_a_file_that_hangs_gives_up(pipe: Path) -> None:
    thread, read = _in_thread(lambda: read_file(pipe))
    while True:  # until the thread is at it
        try:
            read_file("/proc/self/statm")
        except TimeoutError:
            break
    os.close(os.open(pipe, os.O_WRONLY))
    thread.join()
    assert read == [b""] and read_file("/proc/self/statm")


def test_a_forked_child_has_none_of_its_parents_files_and_its_own_thread(tmp_path: Path) -> None:
    room = Room(tmp_path, SMALL)
    file = KeptFile(tmp_path / "f", os.O_RDWR | os.O_CREAT)
    file.open()
    if (child := os.fork()) == 0:
        try:
            file.write(b"child")
        except OSError:
            room.free()
            file.close()
            file.open()
            os._exit(file.write(b"own"))
        os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    assert file.look(9) == b"own" and file.write(b"parent") == 6
    file.close()
    room.free()


def test_a_fork_while_another_thread_works_on_a_file(pipe: Path) -> None:
    thread, _ = _in_thread(lambda: read_file(pipe))
    writing = os.open(pipe, os.O_WRONLY)
    if (child := os.fork()) == 0:
        os.close(writing)
        os._exit(7 if read_file("/proc/self/statm") else 99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    os.close(writing)
    thread.join()


def test_without_the_c_code_the_process_s_own_table_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(descriptors, "_table", None)
    monkeypatch.setattr(native, "built", missing)
    assert not keep_apart()
    assert read_file("/proc/self/statm") and descriptors.spent_ns() == 0


def _streams(folder: Path) -> Streams:
    manifest = Manifest(tfperfkit_run=1, argv=[], cwd="", python="", probes=[])
    return Streams(RunDirectory.create(folder / "r", manifest))
