"""The revision that Git has of a folder, read from its files: no process is started for it."""

from __future__ import annotations

import re
from pathlib import Path

_HASH = re.compile(r"[0-9a-f]{40,64}")
_MAX_BYTES = 5_000_000


def revision(folder: Path) -> str:
    """Return the full hash of what is checked out in the repository that holds ``folder``; "" if there is none."""
    try:
        git = _git_folder(folder)
        return _resolved(git, _read(git / "HEAD")) if git is not None else ""
    except (OSError, ValueError):
        return ""


def _git_folder(folder: Path) -> Path | None:
    for candidate in (folder, *folder.parents):
        git = candidate / ".git"
        if git.is_dir():
            return git
        if git.is_file():  # a work tree of another repository
            return (candidate / _read(git).removeprefix("gitdir:").strip()).resolve()
    return None


def _resolved(git: Path, head: str) -> str:
    if not head.startswith("ref:"):
        return head if _HASH.fullmatch(head) else ""
    name = head.removeprefix("ref:").strip()
    if ".." in name or not name.startswith("refs/"):
        return ""
    common = git / "commondir"
    folders = [git, (git / _read(common)).resolve()] if common.is_file() else [git]
    for place in folders:
        if (place / name).is_file():
            found = _read(place / name)
            return found if _HASH.fullmatch(found) else ""
        if (place / "packed-refs").is_file():
            for line in _read(place / "packed-refs").splitlines():
                known, _, ref = line.partition(" ")
                if ref == name and _HASH.fullmatch(known):
                    return known
    return ""


def _read(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(_MAX_BYTES).decode("utf-8", "replace").strip()
