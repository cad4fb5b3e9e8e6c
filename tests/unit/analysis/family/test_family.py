"""The way from children's parts to the report's words about them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.analysis.family.part import _join_arguments
from tfperfkit.analysis.family.whole import children
from tfperfkit.clock import start_ticks
from tfperfkit.errors import RunDirectoryError
from tfperfkit.launch.child import encoded
from tfperfkit.launch.child_stacks import Stacks
from tfperfkit.model import Report
from tfperfkit.records.children import Child, Children
from tfperfkit.records.steps import StepTable
from tfperfkit.storage.run_directory import Manifest, RunDirectory

S = 1_000_000_000
LOADS = ["stack", 1, [["t.py", 1, "get", 5, None], ["t.py", 8, "load", 9, None]], "PIL", "python", ""]
ASKS = ["stack", 2, [["t.py", 1, "get", 6, None, "multiprocessing.connection:recv"]], "python", "python", ""]
IDLE = ["stack", 3, [], "python", "waiting", ""]


def no_report(path: Path) -> Report:
    raise RunDirectoryError("none")


class Folder:
    """A run directory with the children that a test makes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = Manifest(
            tfperfkit_run=1, argv=["t.py"], cwd="/", python="python", probes=[], started_ns=10 * S, children=True
        )
        self.run = RunDirectory.create(path, self.manifest)

    def part(self, number: int, rows: list[tuple[str, Any]], **child: Any) -> Path:
        folder = self.path / "children" / f"child-{number:04}"
        folder.mkdir()
        origin = {"method": "fork", "pid": number, **child}
        manifest = {"tfperfkit_run": 1, "argv": ["python", "t.py"], "cwd": "/", "python": "python", "probes": []}
        (folder / "run.json").write_text(json.dumps({**manifest, "started_ns": 11 * S, "child": origin}))
        lines = [json.dumps([stream, row]) for stream, row in rows]
        (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
        return folder

    def rest(self, *rows: Any) -> None:
        (self.path / "children" / "rest.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def read(self, steps: StepTable | None = None) -> Children | None:
        return children(self.run, self.manifest, steps or StepTable(), True, no_report)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "run")


def sampled(*numbers: int) -> list[tuple[str, Any]]:
    """Sample each 0.1 s after the start."""
    taken = [("child/samples", ["s", 11 * S + (at + 1) * S // 10, number, 0]) for at, number in enumerate(numbers)]
    return [*(("child/samples", row) for row in (LOADS, ASKS, IDLE)), *taken]


def test_what_waits_is_not_at_work(folder: Folder) -> None:
    about = {"ns": 1, "process": "ForkPoolWorker-1", "target": "multiprocessing.pool:worker"}
    folder.part(1, [("child/about", about), *sampled(1, 1, 2, 3, 1), ("child/end", [12 * S, S // 2, False])])
    found = folder.read()
    assert found is not None
    child = found.processes[0]
    assert (child.began_s, child.wall_s, child.cpu_s, child.ended) == (1.0, 1.0, 0.5, "finished")
    assert child.busy_s == pytest.approx(0.3)
    assert [(line.where.line, line.where.function) for line in child.lines] == [(9, "load")]
    assert (found.groups[0].label, found.groups[0].count) == ("pool: get", 1)


def test_children_of_the_same_kind_are_added_up(folder: Folder) -> None:
    for number in (1, 2):
        folder.part(number, [("child/about", {"target": "m:load"}), *sampled(1, 1), ("child/usage", [12 * S, S])])
    folder.part(3, [("child/end", [12 * S, 1, True])], method="subprocess", parent_pid=2)
    found = folder.read()
    assert found is not None and found.count == 3
    assert [(group.label, group.count, group.ended) for group in found.groups] == [
        ("load", 2, {"no goodbye": 2}),
        ("t.py", 1, {"failed": 1}),
    ]
    assert found.groups[0].cpu_s == 2.0 and found.groups[0].busy_s == pytest.approx(0.4)
    assert found.processes[2].parent == "children/child-0002"


def test_of_the_others_the_last_sum_counts(folder: Folder) -> None:
    row = {"pid": 7, "began_ns": 12 * S, "now_ns": 13 * S, "cpu_ns": S, "method": "fork", "target": "m:short"}
    folder.part(1, [], pid=9)
    folder.rest(
        {**row, "now_ns": 12 * S},
        {**row, "lines": [["t.py", 3, "short", S // 2]]},
        {**row, "pid": 8, "ended": "finished"},
        {**row, "pid": 9},  # it has taken a part meanwhile
        {"pid": "x"},
    )
    found = folder.read()
    assert found is not None and found.count == 3
    short = found.groups[0]
    assert (short.label, short.count, short.ended) == ("short", 2, {"no goodbye": 1, "finished": 1})
    assert short.lines[0].seconds == 0.5


def test_damaged_parts_are_left_out(folder: Folder) -> None:
    folder.part(1, [("child/usage", ["x", None]), ("child/end", "no"), ("child/about", 3), ("child/samples", {})])
    (folder.path / "children" / "child-0002").mkdir()
    (folder.path / "children" / "child-0004").symlink_to(folder.path / "children" / "child-0001")
    bad = folder.part(3, [])
    (bad / "run.json").write_text("{")
    (folder.path / "children" / "rest.jsonl").write_bytes(b"\xff\x00{}\n[1]\n")
    found = folder.read()
    assert found is not None
    assert [(child.part, child.wall_s, child.ended) for child in found.processes] == [
        ("children/child-0001", 0.0, "no goodbye")
    ]


def test_who_outlives_the_script_still_runs(folder: Folder) -> None:
    folder.part(1, [("child/usage", [12 * S, S])], pid=os.getpid(), ticks=start_ticks())
    folder.part(2, [("child/usage", [12 * S, S])], pid=os.getpid(), ticks=1)
    found = folder.read()
    assert found is not None
    assert [child.ended for child in found.processes] == ["running" if start_ticks() else "no goodbye", "no goodbye"]


def test_none_where_there_was_no_child(folder: Folder) -> None:
    assert folder.read() is None


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["python", "-u", "/a/worker.py", "--rank", "1"], "worker.py --rank 1"),
        (["python", "-B", "-m", "package.work"], "-m package.work"),
        (["python", "-c", "\nimport os\nprint()"], "-c import os"),
        (["python"], ""),
        (["python", "w.py", "x" * 200], "w.py " + "x" * 74 + "…"),
    ],
)
def test_commands_are_short(argv: list[str], words: str) -> None:
    assert _join_arguments(argv) == words


@pytest.mark.parametrize("value", [None, True, -3, 1.5, 'é\n\t"\\\x01', ["a", {"b": [None, False]}], (), {}])
def test_what_a_child_writes_is_json(value: Any) -> None:
    assert json.loads(encoded(value)) == json.loads(json.dumps(value))


def test_a_text_that_is_no_unicode() -> None:
    assert json.loads(encoded("a\udc80b")) == "a?b"


def test_stacks_of_a_child_have_the_persons_frames_and_what_they_call() -> None:
    import sys

    stacks = Stacks(())
    frame = sys._getframe()
    number = stacks.number(frame)
    assert number == 1 and stacks.number(None) == 2
    _, _, frames, library, doing, _ = stacks.rows[0]
    assert isinstance(frames, list)
    assert frames[-1][2] == "test_stacks_of_a_child_have_the_persons_frames_and_what_they_call"
    assert (library, doing) == ("", "python")
    assert stacks.leaves[1][0] == __file__


def test_the_frames_of_the_parent_are_left_out() -> None:
    import json as library
    import sys

    seen: list[Any] = []

    class Hook(library.JSONEncoder):
        def default(self, o: Any) -> Any:
            stacks = Stacks((), sys._getframe(1))  # the encoder's frame: a library's
            stacks.number(sys._getframe())
            seen.append(stacks.rows[0][2])
            return 1

    library.dumps(object(), cls=Hook)
    assert [frame[2] for frame in seen[0]] == ["default"]


def test_the_record_of_a_child_can_be_made_by_hand() -> None:
    assert Child(method="fork", pid=1, began_s=0.0, wall_s=1.0).ended == "unknown"
