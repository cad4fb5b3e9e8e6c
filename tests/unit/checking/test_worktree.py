"""The base in a folder of its own: made by Git, and gone afterwards whatever happened."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tfperfkit.checking.worktree import checked_out, resolved, top
from tfperfkit.errors import UsageError


def git(folder: Path, *words: str) -> str:
    names = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    done = subprocess.run(["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    for text in ("one", "two"):
        (folder / "train.py").write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", text)
    return folder


def trees(repository: Path) -> int:
    return git(repository, "worktree", "list").count("\n") + 1


def test_the_base_is_beside_the_work_tree_and_goes(repository: Path) -> None:
    (repository / "train.py").write_text("three, not committed")
    with checked_out(top(repository), resolved(repository, "HEAD~1")) as tree:
        assert (tree / "train.py").read_text() == "one"
        assert trees(repository) == 2
    assert not tree.parent.exists() and trees(repository) == 1
    assert (repository / "train.py").read_text() == "three, not committed"


def test_it_goes_when_something_raises(repository: Path) -> None:
    with pytest.raises(SystemExit), checked_out(repository, "HEAD") as tree:
        (tree / "new").write_text("left by the script")
        raise SystemExit(143)
    assert not tree.parent.exists() and trees(repository) == 1


def test_what_a_killed_check_left_is_removed_by_the_next(repository: Path, tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    stale = tmp_path / f"tfperf-base-{gone.pid}-abc" / "project"
    git(repository, "worktree", "add", "--detach", str(stale), "HEAD")
    with checked_out(repository, "HEAD"):
        assert not stale.parent.exists() and trees(repository) == 2
    assert trees(repository) == 1


@pytest.mark.parametrize("revision", ["no-such", "--all", "HEAD~99", ""])
def test_what_is_no_revision_is_said(repository: Path, revision: str) -> None:
    with pytest.raises(UsageError, match="revision"):
        resolved(repository, revision)


def test_outside_of_git_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        top(tmp_path)
