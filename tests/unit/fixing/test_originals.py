"""Originals of patched files: kept, brought back, refused where the user went on with a file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fixing_builder import FILE, finding_at

from tfperfkit.errors import UsageError
from tfperfkit.fixing.files import Files
from tfperfkit.fixing.originals import undo_patches, write_patched
from tfperfkit.fixing.patches import Patches

SOURCE = "import tensorflow as tf\nds = ds.map(f)\n"


def apply(folder: Path) -> list[str]:
    """Write the patch of a made finding to the file in ``folder / "code"``; the run is ``folder / "run"``."""
    (folder / "run").mkdir(exist_ok=True)
    patches = Patches(Files({FILE: SOURCE.splitlines(keepends=True)}, str(folder / "code")))
    patches.make_patch("INP003", finding_at("INP003", (2, "")))
    return write_patched(folder / "run", patches.files, patches.after)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "code" / FILE
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


def test_originals_come_back_once(tmp_path: Path, script: Path) -> None:
    apply(tmp_path)
    assert "AUTOTUNE" in script.read_text()
    assert undo_patches(tmp_path / "run") == [str(script)]
    assert script.read_text() == SOURCE
    with pytest.raises(UsageError, match="nothing to undo"):
        undo_patches(tmp_path / "run")
    apply(tmp_path)  # and again
    assert undo_patches(tmp_path / "run") == [str(script)]


def test_a_file_that_was_changed_after_its_patch_stays(tmp_path: Path, script: Path) -> None:
    apply(tmp_path)
    script.write_text(script.read_text() + "more = 1\n")
    with pytest.raises(UsageError, match="changed after the patch"):
        undo_patches(tmp_path / "run")
    assert script.read_text().endswith("more = 1\n")


def test_if_one_file_cannot_be_written_the_others_stay(tmp_path: Path, script: Path) -> None:
    sources = {FILE: SOURCE.splitlines(keepends=True), "other.py": SOURCE.splitlines(keepends=True)}
    (script.parent / "other.py").write_text(SOURCE)
    files = Files(sources, str(script.parent))
    for file in sources:
        files.module(file)
    (script.parent / "other.py").write_text("changed = 1\n")
    (tmp_path / "run").mkdir()
    with pytest.raises(UsageError, match="just changed"):
        write_patched(tmp_path / "run", files, {FILE: b"a = 1\n", "other.py": b"a = 1\n"})
    assert script.read_text() == SOURCE


def test_uncommitted_changes_are_said(tmp_path: Path, script: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=script.parent, check=True, capture_output=True)

    git("init")
    script.write_text("old = 1\n")
    git("add", FILE)
    git("commit", "-m", "x")
    script.write_text(SOURCE)
    assert [FILE in line and "not committed" in line for line in apply(tmp_path)] == [True]
    undo_patches(tmp_path / "run")
    git("commit", "-am", "y")
    assert apply(tmp_path) == []
