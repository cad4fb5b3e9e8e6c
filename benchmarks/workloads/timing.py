"""How a workload times itself: the whole loop, and its last part, where tfperf's windows are over."""

from __future__ import annotations

import time
from collections.abc import Callable


def stepped() -> None:
    """Note that a step begins. ``steady.py`` puts its own function here."""


def run(step: Callable[[], object], steps: int) -> None:
    """Call ``step`` so often; print seconds of the whole loop and of its last two fifths."""
    tail = steps * 2 // 5
    begin = time.perf_counter()
    for _ in range(steps - tail):
        stepped()
        step()
    middle = time.perf_counter()
    for _ in range(tail):
        stepped()
        step()
    end = time.perf_counter()
    print(f"BENCH whole {end - begin:.6f} tail {end - middle:.6f}")
