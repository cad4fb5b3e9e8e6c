"""Words and records about a script that died in a window of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfperfkit.analysis.window_deaths import conclude, stack_note, window_death
from tfperfkit.clock import NS_PER_S
from tfperfkit.launch.arguments import Split
from tfperfkit.launch.left_out import LeftOut
from tfperfkit.model import SourceSpan
from tfperfkit.recording.window_phases import WindowPhases
from tfperfkit.storage.run_directory import PHASES, STACKS, Exit, Manifest, RunDirectory

MANIFEST = Manifest(tfperfkit_run=1, argv=["train.py"], cwd=".", python="python", probes=["tfprof", "devices"])
SEGV, KILL = -11, -9
STACK = """Fatal Python error: Segmentation fault

Thread 0x00007fece88f96c0 (most recent call first):
  File "/lib/other.py", line 1 in other

Current thread 0x00007fed3ecb9b80 (most recent call first):
  File "/lib/ctypes.py", line 519 in string_at
  File "/my/train.py", line 10 in <module>

Extension modules: numpy
"""


def directory(folder: Path, *phases: tuple[str | int, ...]) -> RunDirectory:
    run = RunDirectory.create(folder, MANIFEST)
    rows = "".join(json.dumps(row) + "\n" for row in phases)
    (run.session / f"{PHASES}.jsonl").write_text(rows)
    return run


OPENED, CLOSED = ("tfprof", "open", 5), ("tfprof", "closed", 10)


@pytest.mark.parametrize(
    ("phases", "status", "ended", "words"),
    [
        ([OPENED], SEGV, 50, "SIGSEGV while tfprof's window was open."),
        ([("tfprof", "opening", 5)], SEGV, 50, "SIGSEGV while tfprof's window was opening."),
        ([OPENED, ("tfprof", "closing", 9)], -6, 50, "SIGABRT while tfprof's window was closing."),
        ([OPENED, CLOSED], SEGV, NS_PER_S, "less than a second after tfprof's window had closed."),
        ([OPENED, CLOSED], SEGV, 2 * NS_PER_S, None),
        ([OPENED, CLOSED, ("devices", "opening", 20)], SEGV, 50, "while devices' window was opening."),
        ([OPENED, CLOSED, ("devices", "open", 20), ("devices", "closed", 30)], SEGV, 50, "after devices' window"),
        ([("tfprof", "open", 5, "beside")], SEGV, 50, "SIGSEGV while tfprof's window was open."),  # by a thread of ours
        ([OPENED], KILL, 50, "SIGKILL while tfprof's window was open (the system does that when memory runs out)."),
        ([OPENED], -15, 50, None),  # SIGTERM: somebody's
        ([OPENED], 1, 50, None),
        ([OPENED], 0, 50, None),
        ([], SEGV, 50, None),
    ],
)
def test_when_it_died(
    tmp_path: Path, phases: list[tuple[str, str, int]], status: int, ended: int, words: str | None
) -> None:
    death = window_death(directory(tmp_path / "r", *phases), Exit(status=status, ended_ns=ended))
    assert (death is None) == (words is None)
    if death is not None and words is not None:
        assert words in conclude(death).text


def test_a_ctrl_c_is_no_death(tmp_path: Path) -> None:
    ended = Exit(status=KILL, ended_ns=50, interrupted=True)
    assert window_death(directory(tmp_path / "r", OPENED), ended) is None


def test_the_stack_of_the_thread_that_was_struck(tmp_path: Path) -> None:
    run = directory(tmp_path / "r", OPENED)
    (run.session / STACKS).write_text(STACK)
    death = window_death(run, Exit(status=SEGV, ended_ns=50))
    assert death is not None
    assert death.stack == (SourceSpan("/lib/ctypes.py", 519, "string_at"), SourceSpan("/my/train.py", 10, "<module>"))
    assert "ctypes.py:519 (string_at) < train.py:10 (<module>)." in stack_note(death)


@pytest.mark.parametrize("text", ["", "Current thread", "Current thread 0x1\n  <no Python frame>\n", "\udcff"])
def test_a_stack_that_is_none(tmp_path: Path, text: str) -> None:
    run = directory(tmp_path / "r", OPENED)
    (run.session / STACKS).write_bytes(text.encode(errors="surrogateescape"))
    death = window_death(run, Exit(status=SEGV, ended_ns=50))
    assert death is not None and death.stack == () and stack_note(death) == ""


def test_phases_that_are_damaged(tmp_path: Path) -> None:
    run = directory(tmp_path / "r")
    (run.session / f"{PHASES}.jsonl").write_text('{}\n[]\n["tfprof", "dreaming", 3]\n["x"]\n[3, "open", 3]\nnothing\n')
    assert window_death(run, Exit(status=SEGV, ended_ns=50)) is None


def test_a_phase_is_on_the_disk_at_once(tmp_path: Path) -> None:
    run = directory(tmp_path / "r")
    WindowPhases(run).enter("lines", "opening")
    death = window_death(run, Exit(status=SEGV, ended_ns=50))
    assert death is not None and (death.probe, death.phase) == ("lines", "opening")


# --- the next run -----------------------------------------------------------------------------------------------------


def _script(name: str) -> Split:
    return Split((), name, False, (), ())


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Split:
    monkeypatch.setenv("TFPERF_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    return _script("train.py")


def out(script: Split, *told: str) -> LeftOut:
    return LeftOut(script, ["tfprof", "devices"], told)


def test_left_out_from_then_on_unless_told_otherwise(tmp_path: Path, script: Split) -> None:
    assert out(script).reasons == {}
    notes = out(script).after(directory(tmp_path / "1", OPENED), Exit(status=SEGV, ended_ns=50))
    assert len(notes) == 1 and notes[0].startswith("The next run of this script leaves tfprof's window out; --window")
    assert list(out(script).reasons) == ["tfprof"]
    assert "this script died of SIGSEGV in it (run 1)" in out(script).reasons["tfprof"]
    assert out(script, "tfprof").reasons == {} and out(_script("other.py")).reasons == {}
    assert LeftOut(script, ["devices"], []).reasons == {}
    # A run without the window says nothing about it; a run with the window that ends well does.
    assert out(script).after(directory(tmp_path / "2"), Exit(status=0, ended_ns=50)) == []
    assert out(script, "tfprof").after(directory(tmp_path / "3", OPENED), Exit(status=0, ended_ns=50)) == []
    assert list(out(script).reasons) == ["tfprof"]
    assert out(script, "tfprof").after(directory(tmp_path / "4", OPENED, CLOSED), Exit(status=1, ended_ns=50)) == []
    assert out(script).reasons == {}


def test_a_script_that_dies_without_the_window_too(tmp_path: Path, script: Split) -> None:
    out(script).after(directory(tmp_path / "1", OPENED), Exit(status=SEGV, ended_ns=50))
    notes = out(script).after(directory(tmp_path / "2"), Exit(status=SEGV, ended_ns=50))
    assert notes == [
        "The script died of SIGSEGV without tfprof's window too, so that was not the cause: the next run has it again."
    ]
    assert out(script).reasons == {}


def test_another_version_tries_again(tmp_path: Path, script: Split) -> None:
    out(script).after(directory(tmp_path / "1", OPENED), Exit(status=SEGV, ended_ns=50))
    file = tmp_path / "runs" / "left-out.json"
    file.write_text(file.read_text().replace('"version":"', '"version":"9'))
    assert out(script).reasons == {}


@pytest.mark.parametrize("text", ["", "[]", '{"x": 3}', "[" * 100_000])
def test_a_memory_that_is_damaged(tmp_path: Path, script: Split, text: str) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "left-out.json").write_text(text)
    assert out(script).reasons == {}
    out(script).after(directory(tmp_path / "1", OPENED), Exit(status=SEGV, ended_ns=50))
    assert list(out(script).reasons) == ["tfprof"]


def test_a_memory_that_can_not_be_written(tmp_path: Path, script: Split) -> None:
    (tmp_path / "runs").write_text("a file is in the way")
    out(script).after(directory(tmp_path / "1", OPENED), Exit(status=SEGV, ended_ns=50))
    assert out(script).reasons == {}
