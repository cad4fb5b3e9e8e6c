"""The user's files as they were before their patches, kept in the run directory, and how they are brought back."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from tfperfkit.errors import UsageError
from tfperfkit.fixing.files import Files, replace
from tfperfkit.storage.safe_reader import open_file, read_json, write_file

#: The folder in the run directory, and its list of files.
FOLDER = "patched"
_INDEX = f"{FOLDER}/index.json"
_GIT_S = 5


class _Kept(msgspec.Struct, frozen=True):
    """``original``: the name of the copy in ``FOLDER``; ``after``: the digest of the patched file at ``path``."""

    path: str
    original: str
    after: str


def write_patched(run: Path, files: Files, after: Mapping[str, bytes]) -> list[str]:
    """Keep the originals in the run directory ``run``, then write ``after`` (file: content). If one can't be written,
    those before it get their old content again.

    Returns a line about each file with changes that Git does not have. Raises UsageError.
    """
    contents = {file: (files.path(file), files.contents[file], content) for file, content in after.items()}
    _keep(run, contents.values())
    said = [
        f"{file} has changes that are not committed; the original is kept in {run / FOLDER}"
        for file, (path, _, _) in contents.items()
        if _is_uncommitted(path)
    ]
    written: list[tuple[Path, bytes, bytes]] = []
    try:
        for each in contents.values():
            replace(*each)
            written.append(each)
    except UsageError:
        for path, before, content in written:
            replace(path, content, before)
        raise
    return said


def undo_patches(run: Path) -> list[str]:
    """Bring the originals back and forget them. Returns the paths written; raises UsageError if a file was changed
    after its patch, and then writes nothing."""
    kept = _read_index(run)
    if not kept:
        raise UsageError("no patch of that run was applied; nothing to undo")
    back: list[tuple[Path, bytes, bytes]] = []
    for item in kept:
        path = Path(item.path)
        original = _read_original(run, item)
        where = f"the original is {run / FOLDER / item.original}"
        try:
            now = path.read_bytes()
        except OSError as error:
            raise UsageError(f"can't read {path}: {error.strerror}; {where}") from error
        if now == original:
            continue
        if _digest(now) != item.after:
            raise UsageError(f"{path} was changed after the patch; nothing was written, {where}")
        back.append((path, now, original))
    for each in back:
        replace(*each)
    _write_index(run, [])
    for item in kept:
        with suppress(OSError):
            (run / FOLDER / Path(item.original).name).unlink()
    return [str(path) for path, _, _ in back]


def _keep(run: Path, contents: Iterable[tuple[Path, bytes, bytes]]) -> None:
    kept = {item.path: item for item in _read_index(run)}
    number = len(kept)
    try:
        (run / FOLDER).mkdir(exist_ok=True)
        for path, before, after in contents:
            place = str(path.absolute())
            number += 1
            original = kept[place].original if place in kept else f"{number}-{path.name}"
            write_file(run, f"{FOLDER}/{original}", before)
            kept[place] = _Kept(place, original, _digest(after))
    except OSError as error:
        raise UsageError(
            f"can't keep the originals in {run / FOLDER}: {error.strerror}; nothing was written"
        ) from error
    _write_index(run, list(kept.values()))


def _read_index(run: Path) -> list[_Kept]:
    try:
        return msgspec.convert(read_json(run, _INDEX) or [], list[_Kept])
    except msgspec.ValidationError:
        return []


def _write_index(run: Path, kept: list[_Kept]) -> None:
    try:
        write_file(run, _INDEX, msgspec.json.encode(kept))
    except OSError as error:
        raise UsageError(f"can't write {run / _INDEX}: {error.strerror}") from error


def _read_original(run: Path, item: _Kept) -> bytes:
    try:
        with open_file(run, f"{FOLDER}/{item.original}") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise UsageError(f"the original of {item.path} is gone from {run / FOLDER}; nothing was written") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_uncommitted(path: Path) -> bool:
    """Return whether Git knows the file, and the file has changes since the last commit."""
    command = ["git", "--no-optional-locks", "-C", str(path.parent), "status", "--porcelain", "-uno", "--", path.name]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_S)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())
