"""Counts of watch mode in a stretch of the run (step times, samples, traces), in memory that does not grow with the
run, and its rows of minutes, in a file that stays small for weeks.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tfperfkit.records.history import MINUTES, Stretch, joined, read
from tfperfkit.storage import safe_reader
from tfperfkit.storage.stream_writer import StreamFile, encoder

#: Step times that are kept of a stretch, evenly spread over it: their median is known to 3 % of their spread.
_KEPT = 1024


class Durations:
    """Of many durations their number, sum and maximum, and every n-th one."""

    def __init__(self) -> None:
        self.count = self.total = 0
        self.max = 0.0
        self._every = 1
        self._kept: list[float] = []

    def add(self, duration: float, count: int = 1) -> None:
        """``count`` of them alike."""
        if self.count % self._every == 0:
            self._kept.append(duration)
            if len(self._kept) >= _KEPT:
                del self._kept[1::2]
                self._every *= 2
        self.count += count
        self.total += round(duration * count)
        self.max = max(self.max, duration)

    def at(self, share: float) -> float:
        """Return the value at this share (0 to 1) of those that are kept; 0 without any."""
        ordered = sorted(self._kept)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class StretchCounter:
    """Counts from ``begin_ns`` on. ``close`` makes the record of the stretch, with the counts of others."""

    def __init__(self, begin_ns: int) -> None:
        self.begin_ns = begin_ns
        self.durations = Durations()
        self.samples: Counter[str] = Counter()
        self.windows = 0
        self.inside_ns = self.busy_ns = 0

    def computing(self, passed_ns: int, used_ns: int) -> None:
        """In the ns before a sample in a compiled function the process had so many of processors."""
        if passed_ns > 0:
            self.inside_ns += passed_ns
            self.busy_ns += min(max(used_ns, 0), passed_ns)

    def close(
        self, end_ns: int, wall_s: float, step: int, last_step_ns: int, traces: int, traced_ns: int, rss: int, ours: int
    ) -> Stretch:
        durations = self.durations
        return Stretch(
            begin_ns=self.begin_ns,
            end_ns=end_ns,
            wall_s=round(wall_s, 1),
            step=step,
            steps=durations.count,
            total_ns=durations.total,
            median_ns=durations.at(0.5),
            p90_ns=durations.at(0.9),
            max_ns=durations.max,
            last_step_ns=last_step_ns,
            traces=traces,
            traced_ns=traced_ns,
            rss_bytes=rss,
            samples=dict(self.samples),
            ours_ns=ours,
            windows=self.windows,
            inside_ns=self.inside_ns,
            busy_ns=self.busy_ns,
        )


#: Two weeks of minutes. From then on the older half is joined in pairs, once a week.
MAX_BYTES = 8 * 1024 * 1024


class Minutes:
    """The file with the rows of minutes. One thread calls ``append`` and ``flush``."""

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self._folder, self._max = folder, max_bytes
        self._base = 0  # bytes that an earlier process wrote into the file
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
        """Join the older half in pairs, and rewrite the file."""
        self._file.close()
        rows = read(safe_reader.read_stream(self._folder, MINUTES), Stretch)
        half = len(rows) // 2
        kept = [joined(rows[index : min(index + 2, half)]) for index in range(0, half, 2)] + rows[half:]
        data = b"".join(encoder.encode(row) + b"\n" for row in kept)
        with suppress(OSError):
            safe_reader.write_file(self._folder, MINUTES, data)
        with suppress(OSError):
            self._base = os.stat(self._folder / MINUTES).st_size
        if self._base > self._max:  # it could not be written: do not try at each row
            self._max = 2 * self._base
        self._open()
