"""The user's files: as they were in the run, as they are now, and how one is replaced."""

from __future__ import annotations

import io
import os
import tempfile
import tokenize
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tfperfkit.errors import UsageError
from tfperfkit.fixing.edit import NoFix
from tfperfkit.fixing.module import Module


class Files:
    """Parses each file once; of one that is not there the run's own copy, which can be shown and not written."""

    def __init__(
        self, sources: dict[str, Sequence[str]], folder: str, contents: Mapping[str, bytes] | None = None
    ) -> None:
        """``contents``: of files, by path without links, that the run had instead of the present files."""
        self._now = contents or {}
        self._sources = sources
        self.folder = folder
        self._modules: dict[str, Module | NoFix] = {}
        self.contents: dict[str, bytes] = {}
        self.missing: set[str] = set()
        self.changed: set[str] = set()

    def path(self, file: str) -> Path:
        """Return the path of a file of the run."""
        return Path(self.folder, file)

    def module(self, file: str) -> Module:
        """Raises NoFix for a file whose source was not kept, or that is another now than it was in the run."""
        if file not in self._modules:
            try:
                self._modules[file] = self._read(file)
            except NoFix as error:
                self._modules[file] = error
        found = self._modules[file]
        if isinstance(found, NoFix):
            raise found
        return found

    def _read(self, file: str) -> Module:
        kept = [str(line).rstrip("\n") for line in self._sources.get(file, ())]
        if not kept:
            raise NoFix("the run has no copy of its source")
        try:
            path = self.path(file)
            content = self._now.get(str(path.resolve())) or path.read_bytes()
        except (OSError, ValueError):
            self.missing.add(file)
            content = "".join(line + "\n" for line in kept).encode("utf-8", "surrogateescape")
        else:
            if _split_lines(content) != kept:
                self.changed.add(file)
                raise NoFix(f"{file} has changed since the run: run it again")
        self.contents[file] = content
        return Module(file, content)


def _split_lines(content: bytes) -> list[str] | None:
    """As Python's ``linecache`` reads them; None for what it can't."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = io.TextIOWrapper(io.BytesIO(content), encoding).read()
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def replace(path: Path, before: bytes, after: bytes) -> None:
    """At once or not at all, with the file's mode; a link stays one. Raises UsageError."""
    target = Path(os.path.realpath(path))
    made = ""
    try:
        if target.read_bytes() != before:
            raise UsageError(f"{path} has just changed; nothing was written")
        handle, made = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tfperf")
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(made, target.stat().st_mode & 0o7777)
        os.replace(made, target)
    except OSError as error:
        if made:
            with suppress(OSError):
                os.unlink(made)
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
