"""Changes in a long run: pure, fed with the rows of some seconds that the script's process writes."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Iterator

from tfperfkit.clock import NS_PER_MS, NS_PER_S
from tfperfkit.records.history import Change, Stretch
from tfperfkit.statistics.autocorrelation import autocorrelation_time
from tfperfkit.statistics.changepoint import GrowthTest

#: Steps are compared with their own past from so many rows on: 10 minutes of 5 s.
PAST = 120
#: On average at most one false alarm in so many seconds, where nothing changes.
ALARM_S = 86_400
#: A change that is sure but smaller than this opens no window; the median of so many rows is the new time.
WORTH, NEW = 1.05, 6
#: Rows that are joined for the test, at most: it is blind to what passes in less.
MAX_JOINED = 24
#: A retrace is of interest when so many rows with steps came without any.
STEADY = 12
#: No step for so long, and for so many times the longest gap so far, is a stall.
STALL_S, STALL_TIMES = 30.0, 10.0
#: Memory is looked at by the minute, over so many minutes; that it grows counts from this share of it an hour on and
#: so many bytes, and by an order (Kendall's tau) of the minutes that chance gives once in ten thousand looks.
MEMORY_MINUTES, MEMORY_SHARE, MEMORY_BYTES, MEMORY_TAU = 30, 0.10, 32 * 1024 * 1024, 0.9
_MINUTE_NS = 60 * NS_PER_S


class Slower:
    """Steps slower than their own past. The median step of a row is a value; as many rows are joined to one as resemble
    each other, so that the rate of false alarms holds."""

    def __init__(self, block_s: float) -> None:
        self._block_s = block_s
        self._forget()

    def _forget(self) -> None:
        """Forget the past: the next rows are the past of the next change."""
        self._past: list[float] = []
        self._joined: list[float] = []
        self._size = 0
        self._test: GrowthTest | None = None
        self._usual = 0.0
        self._newest: deque[float] = deque(maxlen=NEW)

    def add(self, row: Stretch) -> str:
        """In words; "" if nothing changed."""
        if not row.steps or row.windows:
            return ""
        if self._test is None:
            self._learn(row.median_ns)
            return ""
        self._newest.append(row.median_ns)
        self._joined.append(row.median_ns)
        if len(self._joined) < self._size:
            return ""
        value, self._joined = statistics.fmean(self._joined), []
        alarm = self._test.add(value)
        now = statistics.median(self._newest)
        if not alarm or now < WORTH * self._usual:
            return ""
        before, apart = self._usual, self._size * self._block_s
        self._forget()
        return (
            f"steps have become slower than their own past: {before / NS_PER_MS:.4g} ms before, "
            f"{now / NS_PER_MS:.4g} ms now (test by the ranks of {apart:.3g} s each; a false alarm a day at most, on "
            "average)"
        )

    def _learn(self, value: float) -> None:
        self._past.append(value)
        count = len(self._past)
        if count < PAST or count % PAST:
            return
        import numpy

        self._size = min(math.ceil(2 * autocorrelation_time(numpy.asarray(self._past)) - 1), MAX_JOINED)
        if count < PAST * self._size:
            return
        size = self._size
        values = [statistics.fmean(self._past[at : at + size]) for at in range(0, count - size + 1, size)]
        self._test = GrowthTest(values, ALARM_S / (self._block_s * size))
        self._usual = statistics.median(self._past)
        self._past = []


class Retraced:
    """A function is traced although none has been for a while of steps."""

    def __init__(self) -> None:
        self._quiet = 0

    def add(self, row: Stretch) -> str:
        quiet, self._quiet = self._quiet, self._quiet + (row.steps > 0)
        if not row.traces:
            return ""
        self._quiet = 0
        if quiet < STEADY:
            return ""
        many = "a function was traced" if row.traces == 1 else f"{row.traces} functions were traced"
        return f"{many} in the steady state, in {row.traced_ns / NS_PER_S:.3g} s"


class Stalled:
    """No step comes any more."""

    def __init__(self) -> None:
        self._longest = 0
        self._last = 0
        self._reported = False

    def add(self, row: Stretch) -> str:
        if row.steps:
            self._longest = max(self._longest, round(row.max_ns), row.last_step_ns - (self._last or row.last_step_ns))
            self._last, self._reported = row.last_step_ns, False
            return ""
        if not self._last or self._reported:
            return ""
        waited = row.end_ns - self._last
        if waited < max(STALL_S * NS_PER_S, STALL_TIMES * self._longest):
            return ""
        self._reported = True
        longest = self._longest / NS_PER_S
        return f"no step for {waited / NS_PER_S:.0f} s, where none took longer than {longest:.3g} s before"


class Memory:
    """Resident memory that grows on and on."""

    def __init__(self) -> None:
        self._minutes: deque[tuple[int, int]] = deque(maxlen=MEMORY_MINUTES)

    def add(self, row: Stretch) -> str:
        if not row.rss_bytes or (self._minutes and row.end_ns - self._minutes[-1][0] < _MINUTE_NS):
            return ""
        self._minutes.append((row.end_ns, row.rss_bytes))
        if len(self._minutes) < MEMORY_MINUTES:
            return ""
        from scipy import stats

        times = [(when - self._minutes[0][0]) / (60 * _MINUTE_NS) for when, _ in self._minutes]  # hours
        sizes = [size for _, size in self._minutes]
        if stats.kendalltau(times, sizes).statistic < MEMORY_TAU:
            return ""
        slope, _, low, _ = stats.theilslopes(sizes, times, 0.95)
        if low < MEMORY_SHARE * sizes[0] or sizes[-1] - sizes[0] < MEMORY_BYTES:
            return ""
        self._minutes.clear()
        mb = 1e6
        return (
            f"resident memory grows by {slope / mb:.3g} MB an hour ({sizes[0] / mb:.4g} MB half an hour ago, "
            f"{sizes[-1] / mb:.4g} MB now)"
        )


class Triggers:
    """All of them, in turn for each row."""

    def __init__(self, block_s: float) -> None:
        self._slower, self._retraced, self._stalled, self._memory = Slower(block_s), Retraced(), Stalled(), Memory()

    def add(self, row: Stretch) -> Iterator[Change]:
        """Return the change that this row shows."""
        for why, text in (
            ("traced", self._retraced.add(row)),
            ("slower", self._slower.add(row)),
            ("stall", self._stalled.add(row)),
            ("growth", self._memory.add(row)),
        ):
            if text:
                yield Change(why=why, ns=row.end_ns, wall_s=row.wall_s, step=row.step, text=text)  # type: ignore[arg-type]
