"""Whether single long steps come in turn: every n-th step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit_rules.measures import shared

PERIOD_MIN = Threshold(
    3,
    "steps",
    "shortest period with one long step: if every second step is long, steps are like that",
    Chosen("with a shorter one long steps are no exception"),
)
PERIODS_MIN = Threshold(
    4, "count", "minimum number of long steps at equal distances", Chosen("three equal distances are not chance")
)
PERIOD_LONGEST = Threshold(
    40, "steps", "number of the longest steps whose distances are looked at", Chosen("ten times PERIODS_MIN")
)


def period(late: Mapping[int, float], clean: Collection[int]) -> tuple[int, list[int]] | None:
    """(n, the late steps that are every n-th one): nearly all of what late steps take longer falls on these, and nearly
    each of these is late. ``late``: what steps took beyond the ordinary, by number; ``clean``: all that were looked at.
    """
    fewest, whole = PERIODS_MIN.value, sum(late.values())
    ranked = sorted(late, key=lambda number: -late[number])
    long = sorted(ranked[: PERIOD_LONGEST.value])
    gaps = Counter(b - a for a, b in zip(long, long[1:], strict=False))
    for n, _ in gaps.most_common(fewest):
        if n < PERIOD_MIN.value:
            continue
        first = Counter(number % n for number in long).most_common(1)[0][0]
        on = [number for number in late if number % n == first]
        turns = sum(1 for number in clean if number % n == first)
        weight = sum(late[number] for number in on)
        enough = len(on) >= max(fewest, shared.NEARLY_ALWAYS.value * turns)
        if enough and weight >= shared.NEARLY_ALWAYS.value * whole:
            return n, sorted(on)
    return None
