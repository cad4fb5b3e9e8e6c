"""The readings of the probe ``memory``: limits, resident memory, containers, collections. No TensorFlow."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfperfkit.instruments.memory.containers import Containers, _Walk
from tfperfkit.instruments.memory.gc import Collections
from tfperfkit.instruments.memory.process import Resident, limits
from tfperfkit.records.memory import Container


def machine(root: Path, cgroup: str, files: dict[str, str], available: int = 1000) -> Path:
    """Make a root folder; sizes in kB."""
    files = {
        "proc/meminfo": f"MemTotal:  8000 kB\nMemFree: 10 kB\nMemAvailable: {available} kB\nHugePages_Total: 0\n",
        "proc/self/cgroup": cgroup,
        **files,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def bounded(root: Path) -> dict[str, tuple[int, int | None]]:
    return {limit.source: (limit.limit_bytes, limit.free_bytes) for limit in limits(root) if not limit.virtual}


def test_limit_of_a_control_group_version_2_is_the_smallest_on_the_way_up(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        "0::/a/b\n",
        {
            "sys/fs/cgroup/a/b/memory.max": "max\n",
            "sys/fs/cgroup/a/memory.max": "4096000\n",
            "sys/fs/cgroup/a/memory.current": "96000\n",
        },
    )
    assert bounded(root) == {"machine": (8_192_000, 1_024_000), "control group": (4_096_000, 4_000_000)}


def test_limit_of_a_control_group_version_1_seen_from_a_container(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        "5:cpu:/x\n4:memory:/docker/1234\n",
        {
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "2048000\n",
        },
    )
    assert bounded(root)["control group"] == (2_048_000, None)


@pytest.mark.parametrize("text", ["max", "9223372036854771712", "", "99999999999"])
def test_a_group_without_a_limit_below_the_machines_does_not_count(tmp_path: Path, text: str) -> None:
    root = machine(tmp_path, "0::/\n", {"sys/fs/cgroup/memory.max": text})
    assert set(bounded(root)) == {"machine"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_resident_memory_follows_what_is_allocated() -> None:
    resident = Resident()
    try:
        before = resident.read()
        block = np.ones(8_000_000)
        after = resident.read()
        del block
    finally:
        resident.close()
    assert not resident.read()[3]  # closed: only the peak is known
    assert after[1] - before[1] > 50_000_000
    assert after[2] >= after[0] >= after[1]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
def test_a_file_of_the_scripts_under_our_number_is_neither_read_nor_closed(tmp_path: Path) -> None:
    resident = Resident()
    assert resident._file is not None
    number = resident._file._handle
    other = os.open(tmp_path / "script.txt", os.O_CREAT | os.O_RDWR)
    os.dup2(other, number)  # as closing all files and opening another would do
    os.write(number, b"1 2 3 4")
    rss, _, _, virtual = resident.read()
    assert virtual > rss > 1 << 20  # read again from a file of our own
    resident.close()
    assert os.fstat(number)  # still open
    os.close(number)
    os.close(other)


# No assert in the functions that are looked into: pytest writes a call of locals() into those.


def local_names(containers: Containers) -> dict[str, Container]:
    losses = [1.5, 2.5]
    history = {"loss": [1, 2, 3], "names": "text"}
    recent = deque([b"abc"], maxlen=5)
    array = np.zeros((4, 5), dtype=np.float32)
    alias = losses
    look = containers.look(sys._getframe())
    del losses, history, recent, array, alias
    return {item.name: item for item in look.containers if item.function == "local_names"}


def test_local_containers_with_their_newest_elements() -> None:
    found = local_names(Containers(lambda name: name == __file__))
    assert set(found) == {"losses", "history", "history['loss']", "recent", "array"}  # an alias once
    assert (found["losses"].length, found["losses"].element, found["losses"].element_bytes) == (2, "float", 24)
    assert (found["history['loss']"].length, found["history['loss']"].element) == (3, "int")
    assert (found["recent"].kind, found["recent"].element) == ("deque", "bytes")
    assert (found["array"].length, found["array"].element_bytes, found["array"].element) == (20, 4, "float32")


def test_a_look_keeps_nothing_alive() -> None:
    class Big:
        pass

    def function() -> int:
        kept: Any = Big()
        held = [kept]
        Containers(lambda name: name == __file__).look(sys._getframe())
        before = sum(type(item) is Big for item in gc.get_objects())
        held.clear()
        del kept
        return before - sum(type(item) is Big for item in gc.get_objects())

    assert function() == 1


def test_a_function_that_reads_its_locals_is_left_alone() -> None:
    def function() -> tuple[dict[str, Any], tuple[str, ...]]:
        names = locals()
        value = [1]
        look = Containers(lambda name: name == __file__).look(sys._getframe())
        del value
        return names, look.skipped

    names, skipped = function()
    if sys.version_info < (3, 13):
        assert "function" in skipped
    assert "value" not in names or sys.version_info < (3, 13)


class Trap:
    """Whatever of it is called, the test fails."""

    def __init__(self) -> None:
        self.kept = TrapList([1, 2])

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise AssertionError("__class__")


class TrapList(list[int]):
    def __len__(self) -> int:
        raise AssertionError("__len__")

    def __getitem__(self, index: Any) -> Any:
        raise AssertionError("__getitem__")


def test_no_code_of_the_script_is_called() -> None:
    walk = _Walk({__name__: sys.modules[__name__]}, 1 << 63)
    walk.names({"trap": Trap(), "Trap": Trap, "own": TrapList([1])}, "train.py", "", 0)
    assert {item.name: item.length for item in walk.found} == {"trap.kept": 2, "own": 1}


def test_a_look_is_bounded() -> None:
    walk = _Walk({}, 0)
    walk.names({f"name{number}": [] for number in range(50)}, "train.py", "", 0)
    assert not walk.open and len(walk.found) == 1


def test_full_collections_are_written_and_the_callback_is_taken_off() -> None:
    rows: list[Any] = []
    before = list(gc.callbacks)
    collections = Collections(rows.append)
    collections.install()
    try:
        gc.collect()
    finally:
        collections.restore()
    gc.collect()
    assert gc.callbacks == before
    full = [row for row in rows if row[2] == 2]
    assert len(full) == collections.count[2] == 1
    assert full[0][1] > full[0][0] and full[0][4] == threading.get_ident()


def test_who_made_the_garbage_is_told_apart() -> None:
    rows: list[Any] = []
    collections = Collections(rows.append)
    collections.install()
    try:
        other = threading.Thread(target=gc.collect)
        other.start()
        other.join()
    finally:
        collections.restore()
    assert [row[4] for row in rows if row[2] == 2] == [other.ident]


def test_collections_stop_at_the_most_and_go_on_counting() -> None:
    rows: list[Any] = []
    collections = Collections(rows.append, limit=2)
    for _ in range(5):
        collections("start", {})
        collections("stop", {"generation": 2, "collected": 7})
    assert [row[2:] for row in rows] == [[2, 7, threading.get_ident()]] * 2
    assert collections.count == [0, 0, 5]
