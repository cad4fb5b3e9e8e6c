"""Following the rows that the script's process writes, from file to file of their ring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from tfperfkit.records.history import BLOCKS, Stretch
from tfperfkit.storage import ring, safe_reader

_HEAD = b'["session/blocks",'
_MAX_BYTES = 4 * 1024 * 1024  # at a time


class BlockReader:
    """Remembers where it was. Reads whole lines only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number, self._offset = 0, 0

    def new(self) -> Iterator[Stretch]:
        """The rows since the last call."""
        for number, name in ring.files(self._folder, BLOCKS):
            if number < self._number:
                continue
            if number > self._number:
                self._number, self._offset = number, 0
            yield from self._read(name)

    def _read(self, name: str) -> Iterator[Stretch]:
        try:
            with safe_reader.open_file(self._folder, name) as file:
                file.seek(self._offset)
                data = file.read(_MAX_BYTES)
        except OSError:  # it has been dropped meanwhile
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            if line.startswith(_HEAD):
                try:
                    yield msgspec.json.decode(line[len(_HEAD) : -1], type=Stretch)
                except (msgspec.DecodeError, RecursionError):
                    continue
