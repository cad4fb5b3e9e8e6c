"""Holds what the run directory has, so that a report comes also when the script removed the directory.

A file that is open outlives its name. The supervisor looks at the directory now and then and opens what is new; the
script's process goes on writing into its own open files. When the script has ended and the directory is gone, what is
held is written back. Not before: a script that clears a folder and creates it again must find it as it left it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from tfperfkit.storage.run_directory import RECORDS

#: A run has some dozens of files; more than this are not held.
_MAX_FILES = 400
#: Our files at the top of the directory, which --run-dir may have made of a folder with other things in it.
_OURS = ("run.json", "agent.json", "end.json", RECORDS, "sources.jsonl", "session", "probes", "trace")


class Keeper:
    """Of one run directory. ``look`` while the script runs; ``restore`` after its end; both never raise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[Path, tuple[int, int]] = {}  # below the folder: inode and descriptor
        self.look()

    def look(self) -> None:
        """Open the files that are new, and those that took the place of another."""
        if self._is_there():  # else what stands there now is not ours
            self._look(self._folder, _OURS)

    def _is_there(self) -> bool:
        """Also where that is unknown: a folder that may not be entered, a network drive that has gone."""
        try:
            return (self._folder / "run.json").exists()
        except OSError:
            return True

    def _look(self, folder: Path, names: Collection[str] | None = None) -> None:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if names is not None and entry.name not in names:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    self._look(Path(entry.path))
                elif entry.is_file(follow_symlinks=False):
                    self._hold(Path(entry.path), entry.inode())

    def _hold(self, path: Path, inode: int) -> None:
        name = path.relative_to(self._folder)
        known = self._held.get(name)
        if known is not None and known[0] == inode:
            return
        if known is None and len(self._held) >= _MAX_FILES:
            return
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            if known is not None:
                os.close(known[1])
            self._held[name] = (inode, descriptor)

    def restore(self) -> bool:
        """Return whether the directory had gone and could be written back."""
        if not self._held or self._is_there():
            return False
        try:
            for name, (_, descriptor) in self._held.items():
                target = self._folder / name
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with os.fdopen(os.dup(descriptor), "rb") as source, target.open("wb") as copy:
                        source.seek(0)
                        shutil.copyfileobj(source, copy)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of all files."""
        for _, descriptor in self._held.values():
            with suppress(OSError):
                os.close(descriptor)
        self._held.clear()
