"""Runs at an address (``s3://bucket/run``, ``gs://…``): recorded on local disk, sent there when the script has ended.

fsspec carries them; nothing of it is imported where no address is given.
"""

from __future__ import annotations

import atexit
import logging
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfperfkit.errors import RunDirectoryError, UsageError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://.")
_MARK = ".tfperf-can-write"
#: Function that chooses the wanted names of files at an address.
Choose = Callable[[Sequence[str]], Sequence[str]]
#: Copies that this process has fetched, by address.
_FETCHED: dict[str, Path] = {}


def is_address(text: str) -> bool:
    """Return whether this names a place in a store, not a path."""
    return _ADDRESS.match(text) is not None


class Store:
    """The folder that an address names. Raises UsageError for one that nobody here can reach."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise UsageError(
                f"{address} is an address in a store, which fsspec reaches: pip install 'tfperfkit[remote]'"
            ) from None
        try:
            with _one_line():
                self._files, self._path = url_to_fs(self.address)
        except Exception as error:  # of the store's own package: not installed, no credentials, no such scheme
            raise UsageError(f"can't reach {address}: {_line(error)}") from None

    def check(self, part: str = "") -> None:
        """Before anything is run: no run is there yet, and one can be written. Raises UsageError."""
        from fsspec.implementations.memory import MemoryFileSystem

        if type(self._files) is MemoryFileSystem:
            raise UsageError(f"{self.address} ends with this process, and the run with it: give a folder or a bucket")
        place = self._at(part)
        try:
            with _one_line():
                taken = self._files.exists(f"{place}/run.json")
                if not taken:
                    self._make(place)
                    self._files.pipe_file(f"{place}/{_MARK}", b"")
                    self._files.rm_file(f"{place}/{_MARK}")
        except Exception as error:
            raise UsageError(f"can't write to {self.address}: {_line(error)}") from None
        if taken:
            raise RunDirectoryError(f"{self.address} already holds a run: give another address")

    def send(self, folder: Path, part: str = "") -> str:
        """Copy a run's folder there; why that failed, "" if it did not."""
        place = self._at(part)
        try:
            with _one_line():
                for file in sorted(folder.rglob("*")):
                    if file.is_file() and not file.is_symlink():
                        target = f"{place}/{file.relative_to(folder).as_posix()}"
                        self._make(target.rpartition("/")[0])
                        self._files.put_file(str(file), target)
        except Exception as error:
            return _line(error)
        return ""

    def fetch(self, folder: Path, choose: Choose | None = None) -> None:
        """Copy what is there into an empty folder, or what ``choose`` chooses of its names; raises
        RunDirectoryError."""
        try:
            with _one_line():
                found = [name for name in self._files.find(self._path) if not name.endswith(f"/{_MARK}")]
                if found == [self._path.rstrip("/")]:  # of a single file
                    self._files.get_file(found[0], str(folder / found[0].rpartition("/")[2]))
                    return
                for name in choose(found) if choose is not None else found:
                    within = name[len(self._path.rstrip("/")) :].lstrip("/") if name.startswith(self._path) else ""
                    target = folder / within
                    if not within or not target.resolve().is_relative_to(folder.resolve()):
                        continue  # a store may give any name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    self._files.get_file(name, str(target))
        except Exception as error:
            raise RunDirectoryError(f"can't read {self.address}: {_line(error)}") from None
        if not found:
            raise RunDirectoryError(f"there is nothing at {self.address}")

    def _make(self, folder: str) -> None:
        """Make a folder. A bucket has none, and one that is missing (a typing error) would be made, too."""
        if folder.startswith("/"):
            self._files.makedirs(folder, exist_ok=True)

    def _at(self, part: str) -> str:
        return f"{self._path.rstrip('/')}/{part}" if part else self._path.rstrip("/")


def fetched(address: str, choose: Choose | None = None) -> Path:
    """Fetch a copy of the run at an address, or of all its parts, or of the files that are chosen, for as long as this
    process lives. Raises UsageError or RunDirectoryError."""
    if address not in _FETCHED:
        store = Store(address)
        outer = Path(tempfile.mkdtemp(prefix="tfperf-"))
        atexit.register(shutil.rmtree, outer, ignore_errors=True)
        folder = outer / (store.address.rpartition("/")[2] or "run")
        folder.mkdir()
        store.fetch(folder, choose)
        _FETCHED[address] = folder
    return _FETCHED[address]


@contextmanager
def _one_line() -> Iterator[None]:
    """The packages of stores log what fails, tracebacks too, again at each try; we say it in one line."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _line(error: Any) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__
