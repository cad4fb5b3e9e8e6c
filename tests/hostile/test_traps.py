"""Traps in a run directory, or in the folder where one stands, do not spring."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (self.mark,))  # type: ignore[return-value]


NAMES = [
    "sitecustomize",
    "usercustomize",
    "tfperfkit",
    "tfperfkit_probes",
    "tfperfkit_rules",
    "msgspec",
    "numpy",
    "rich",
    "click",
    "google",
    "conftest",
    "setup",
    "__init__",
    "__main__",
    "tensorboard",
    "xprof",
    "line_profiler",
    "wrapt",
]


def with_traps(folder: Path, mark: Path) -> None:
    """Modules under the names that we import, a path file, a pickle, and packages of these."""
    code = f"open({str(mark)!r}, 'a').write(__file__)\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(code)
    (folder / "site-packages.pth").write_text(f"import os; {code}")
    (folder / "run.pkl").write_bytes(pickle.dumps(Trap(mark)))


def tfperf(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The installed command: ``python -m`` would put the current folder on the path, as Python says it does."""
    command = [str(Path(sys.executable).with_name("tfperf")), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200)


@pytest.mark.parametrize("inside", [True, False])
def test_traps_in_a_run_directory_do_not_spring(inside: bool, copied: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for folder in [copied, *(path for path in copied.rglob("*") if path.is_dir())]:
        with_traps(folder, mark)
    for path in copied.rglob("*.lprof"):
        path.write_bytes(pickle.dumps(Trap(mark)))
    where = copied if inside else tmp_path
    for arguments in (
        ["report", str(copied), "--show", "all", "--ops-dump", "step"],
        ["export", str(copied), "-o", str(tmp_path / "t.gz")],
    ):
        done = tfperf(where, *arguments)
        assert done.returncode == 0, done.stderr
        assert not mark.exists(), (arguments, mark.read_text())


def test_trap_springs_where_something_unpickles(tmp_path: Path) -> None:
    """That the traps are good."""
    with_traps(tmp_path, tmp_path / "mark")
    pickle.loads((tmp_path / "run.pkl").read_bytes())
    assert (tmp_path / "mark").exists()
    (tmp_path / "mark").unlink()
    subprocess.run([sys.executable, "-c", "import msgspec"], cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "mark").exists()
