"""A trial's files are not seen in the user's folder, whichever way is taken."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tfperfkit.errors import UsageError
from tfperfkit.trials import workspace as rooms
from tfperfkit.trials.scratch import Scratch, remove
from tfperfkit.trials.workspace import Workspace, workspace

WRITE = ["sh", "-c", "echo new > made; echo changed >> kept; rm -f gone; cat kept; pwd; id -u"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "kept").write_text("kept\n")
    (folder / "gone").write_text("here\n")
    return folder


def used(place: Workspace, scratch: Path) -> list[str]:
    trial = scratch / "1"
    trial.mkdir()
    prepared = place.prepare(trial, WRITE)
    done = subprocess.run(prepared.command, cwd=prepared.folder, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def untouched(folder: Path) -> bool:
    return sorted(os.listdir(folder)) == ["gone", "kept"] and (folder / "kept").read_text() == "kept\n"


def test_the_best_way_of_this_system(project: Path) -> None:
    with Scratch(project) as scratch:
        place = workspace(project, project / "train.py", scratch.path)
        assert place.way in ("overlay", "copy")
        kept, changed, _, user = used(place, scratch.path)
        assert (kept, changed, user) == ("kept", "changed", str(os.getuid()))
        assert untouched(project)
        if place.way == "overlay":
            assert (scratch.path / "1" / "upper0" / "made").exists()
    assert not scratch.path.exists()


@pytest.mark.skipif(not sys.platform.startswith("linux") or not shutil.which("unshare"), reason="no namespaces")
def test_in_an_overlay_paths_are_the_same(project: Path) -> None:
    with Scratch(project) as scratch:
        place = workspace(project, None, scratch.path)
        if place.way != "overlay":
            pytest.skip(place.words)
        assert used(place, scratch.path)[2] == str(project)


def test_a_copy(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_NAMESPACES", ())
    with Scratch(project) as scratch:
        place = workspace(project, None, scratch.path)
        assert place.way == "copy" and "copy" in place.words
        assert used(place, scratch.path)[2] != str(project)
        assert untouched(project)


@pytest.mark.parametrize("way", ["best", "copy"])
def test_files_that_are_others_in_a_trial(project: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Try a patch on the view: the user's file is unchanged, its neighbours are there."""
    if way == "copy":
        monkeypatch.setattr(rooms, "_NAMESPACES", ())
    (project / "lib").mkdir(mode=0o750)
    (project / "lib" / "model.py").write_text("old\n")
    (project / "lib" / "data.py").write_text("data\n")
    with Scratch(project) as scratch:
        place = workspace(project, project / "train.py", scratch.path)
        trial = scratch.path / "1"
        trial.mkdir()
        contents = {str(project.resolve() / "lib" / "model.py"): b"new\n"}
        prepared = place.prepare(trial, ["sh", "-c", "cat lib/model.py lib/data.py kept; stat -c %a lib"], contents)
        done = subprocess.run(prepared.command, cwd=prepared.folder, capture_output=True, text=True, timeout=200)
    assert done.stdout.split() == ["new", "data", "kept", "750"], done.stderr
    assert (project / "lib" / "model.py").read_text() == "old\n"


def test_a_file_outside_of_the_view_is_not_changed(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "installed.py"
    outside.write_text("old\n")
    with Scratch(project) as scratch:
        for place in (
            workspace(project, None, scratch.path),
            workspace(project, None, scratch.path, in_place=True),
        ):
            trial = scratch.path / place.way
            trial.mkdir()
            with pytest.raises(rooms.NotCovered, match="outside"):
                place.prepare(trial, ["true"], {str(outside): b"new\n"})
    assert outside.read_text() == "old\n"


def test_what_is_too_large_to_copy_is_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "_NAMESPACES", ())
    monkeypatch.setattr(rooms, "COPY_FILES", 1)
    with Scratch(project) as scratch:
        with pytest.raises(UsageError, match="--no-sandbox"):
            workspace(project, None, scratch.path)
        place = workspace(project, None, scratch.path, in_place=True)
        used(place, scratch.path)
        assert (project / "made").exists()


def test_the_scripts_own_folder_is_covered_too(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "train.py"
    script.parent.mkdir()
    script.touch()
    roots = rooms._roots(project, script)
    assert roots == [project.resolve(), script.parent.resolve()]
    assert rooms._roots(project, tmp_path / "train.py") == [tmp_path.resolve()]
    assert rooms._roots(project, project / "a" / "train.py") == [project.resolve()]


def test_names_that_mount_does_not_take(tmp_path: Path) -> None:
    assert "can't be given" in (rooms._no_overlay([tmp_path / "a,b"], tmp_path / "s") or "")


def test_closed_folders_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "x" / "work"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    folder.chmod(0)
    remove(tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"),
    reason="only root can become somebody else",
)
def test_as_an_ordinary_user(monkeypatch: pytest.MonkeyPatch) -> None:
    user = 65534
    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    monkeypatch.setattr(rooms, "_NAMESPACES", tuple([*become, *words] for words in rooms._NAMESPACES))
    monkeypatch.setattr(os, "getuid", lambda: user)
    monkeypatch.setattr(os, "getgid", lambda: user)
    monkeypatch.setattr(os, "mkdir", _for(user, os.mkdir))
    with tempfile.TemporaryDirectory(dir="/tmp") as outer:  # pytest's own folders are closed to others
        os.chmod(outer, 0o755)
        folder, scratch = Path(outer) / "project", Path(outer) / "scratch"
        for place in (folder, scratch):
            place.mkdir()
        for name in ("kept", "gone"):
            (folder / name).write_text("kept\n")
            os.chown(folder / name, user, user)
        place = workspace(folder, None, scratch)
        if place.way != "overlay":
            pytest.skip(place.words)  # no user namespaces for users: then it is a copy
        kept, changed, where, seen = used(place, scratch)
        assert (kept, changed, where, seen) == ("kept", "changed", str(folder), str(user))
        assert untouched(folder)
        remove(scratch)
        assert not scratch.exists()


def _for(user: int, make: Any) -> Any:
    def mkdir(path: Any, *arguments: Any, **named: Any) -> None:
        make(path, *arguments, **named)
        os.chown(path, user, user)

    return mkdir
