"""Step times, samples and traces of a stretch of the run, in memory that does not grow with it."""

from __future__ import annotations

from collections import Counter

from tfperfkit.records.history import Stretch

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
        """The value at this share (0 to 1) of those that are kept; 0 without any."""
        ordered = sorted(self._kept)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class StretchCounter:
    """Counts from ``begin_ns`` on. ``close`` makes the record of it, with what others have counted meanwhile."""

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
