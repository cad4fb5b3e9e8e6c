"""The rows of minutes in a file that stays small for weeks: from some size on neighbours are joined."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tfperfkit.records.history import MINUTES, Stretch, joined, read
from tfperfkit.storage import safe_reader
from tfperfkit.storage.stream_writer import StreamFile, encoder

#: Two weeks of minutes. Then two of the older half become one, and again with each week that follows.
MAX_BYTES = 8 * 1024 * 1024


class Minutes:
    """``append`` and ``flush`` by one thread."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._max = folder, max_bytes
        self._base = 0  # bytes in the file that an earlier one of us wrote
        self._open()

    def _open(self) -> None:
        self._file = StreamFile(self._folder / MINUTES)
        self._rows = self._file.stream()

    def append(self, row: Stretch) -> None:
        self._rows.append(row)

    def flush(self) -> None:
        self._file.flush()
        if self._file.ended:  # a full disk: perhaps it has room again
            self._open()
        elif self._base + self._file.written > self._max:
            self._halve()

    def close(self) -> None:
        self._file.close()

    def discard(self) -> None:
        self._file.discard()

    def _halve(self) -> None:
        """Join two by two in the older half, and write the file anew."""
        self._file.close()
        rows = read(safe_reader.read_stream(self._folder, MINUTES), Stretch)
        half = len(rows) // 2
        kept = [joined(rows[index : min(index + 2, half)]) for index in range(0, half, 2)] + rows[half:]
        data = b"".join(encoder.encode(row) + b"\n" for row in kept)
        with suppress(OSError):
            safe_reader.write_file(self._folder, MINUTES, data)
        with suppress(OSError):
            self._base = os.stat(self._folder / MINUTES).st_size
        if self._base > self._max:  # it could not be written: not at each row again
            self._max = 2 * self._base
        self._open()
