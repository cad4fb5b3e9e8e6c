"""How often watch mode's test for slower steps is wrong, and how soon it is right, on simulated rows of 5 s.

``python -m benchmarks.false_alarms`` prints a table: median step times with a noise of 2 % that resemble their
neighbours more or less (AR(1)), ten days of each; and the same 20 % slower from some row on.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

import numpy as np

from tfperfkit.records.history import Stretch
from tfperfkit.watching import triggers

ROW_S, NOISE, SLOWER, DAYS = 5, 0.02, 1.2, 10
_DAY, _CHANGE = 86_400 // ROW_S, 4000


def rows(random: np.random.Generator, correlation: float, count: int, change: int | None = None) -> Iterator[Stretch]:
    """Rows of some seconds; slower from ``change`` on."""
    level = 0.0
    for number in range(count):
        level = correlation * level + random.normal() * math.sqrt(1 - correlation**2)
        median = 1e7 * (1 + NOISE * level) * (SLOWER if change is not None and number >= change else 1)
        begin, end = number * ROW_S * 10**9, (number + 1) * ROW_S * 10**9
        yield Stretch(begin_ns=begin, end_ns=end, steps=500, median_ns=median, max_ns=median, last_step_ns=end)


def alarms(random: np.random.Generator, correlation: float, worth: float) -> float:
    """Return the alarms of a day in which nothing changes."""
    triggers.WORTH = worth
    found = 0
    for _ in range(DAYS):
        test = triggers.Slower(float(ROW_S))
        found += sum(bool(test.add(row)) for row in rows(random, correlation, _DAY))
    return found / DAYS


def delays(random: np.random.Generator, correlation: float) -> list[float]:
    """Seconds to the alarm after a change; infinite where there was none in five hours."""
    found = []
    for _ in range(DAYS):
        test = triggers.Slower(float(ROW_S))
        series = enumerate(rows(random, correlation, 2 * _CHANGE, _CHANGE))
        at = next((number for number, row in series if test.add(row) and number >= _CHANGE), math.inf)
        found.append((at - _CHANGE) * ROW_S)
    return sorted(found)


def main() -> None:
    worth = triggers.WORTH
    print("| correlation | false alarms a day | by the test alone | 20 % slower: found after (median, worst), s |")
    print("|---|---|---|---|")
    for correlation in (0.0, 0.5, 0.8, 0.9, 0.95):
        random = np.random.default_rng(2)
        usual, alone = alarms(random, correlation, worth), alarms(random, correlation, 0.0)
        triggers.WORTH = worth
        found = delays(random, correlation)
        print(
            f"| {correlation} | {usual:.1f} | {alone:.1f} | {statistics.median(found):.0f}, {found[-1]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
