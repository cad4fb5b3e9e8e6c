"""The base revision in a folder of its own: ``git worktree``, removed after, and what an earlier check left as well."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tfperfkit.errors import UsageError

_TIMEOUT_S = 300
_OURS = re.compile(r"tfperf-base-(\d+)-")


def top(folder: Path) -> Path:
    """Return the root of the work tree; raises UsageError outside of one."""
    return Path(_git(folder, "rev-parse", "--show-toplevel", wrong="--base needs a Git repository"))


def resolved(folder: Path, revision: str) -> str:
    """Return the full hash of a revision; raises UsageError where Git knows none such."""
    if revision.startswith("-"):
        raise UsageError(f"--base {revision}: that is no revision")
    wrong = f"--base {revision}: Git knows no such revision here"
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", wrong=wrong)


@contextmanager
def checked_out(repository: Path, commit: str) -> Iterator[Path]:
    """The commit in a temporary folder; the repository's own work tree is not touched."""
    remove_stale(repository)
    parent = Path(tempfile.mkdtemp(prefix=f"tfperf-base-{os.getpid()}-")).resolve()
    tree = parent / repository.name
    try:
        _git(repository, "worktree", "add", "--detach", str(tree), commit, wrong="Git can't check out the base")
        yield tree
    finally:
        _remove(repository, tree, parent)


def remove_stale(repository: Path) -> None:
    """Remove the worktrees that killed checks left."""
    try:
        listed = _git(repository, "worktree", "list", "--porcelain", wrong="")
    except UsageError:
        return
    for line in listed.splitlines():
        path = Path(line.removeprefix("worktree ")) if line.startswith("worktree ") else None
        ours = _OURS.match(path.parent.name) if path is not None else None
        if path is not None and ours is not None and not _alive(int(ours[1])):
            _remove(repository, path, path.parent)


def _remove(repository: Path, tree: Path, parent: Path) -> None:
    subprocess.run(
        ["git", "-C", str(repository), "worktree", "remove", "--force", str(tree)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_S,
    )
    shutil.rmtree(parent, ignore_errors=True)
    subprocess.run(
        ["git", "-C", str(repository), "worktree", "prune"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_TIMEOUT_S,
    )


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _git(folder: Path, *words: str, wrong: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
        )
    except FileNotFoundError:
        raise UsageError("--base needs git, which is not installed") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"git {words[0]} took longer than {_TIMEOUT_S} s") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise UsageError(f"{wrong}{f' ({lines[-1]})' if lines else ''}")
    return done.stdout.decode(errors="replace").strip()
