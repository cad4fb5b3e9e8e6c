"""Times of short calls on a machine that does other things too: the fastest of a few blocks of calls."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Calls are timed in blocks of at least this long, and in so many blocks.
BLOCK_S, BLOCKS = 0.005, 7


def ms(call: Callable[[], object]) -> float:
    """ms of a call: the fastest block, since what disturbs only adds."""
    call()
    begin = time.perf_counter()
    call()
    times = max(1, round(BLOCK_S / max(time.perf_counter() - begin, 1e-7)))
    blocks = []
    for _ in range(BLOCKS):
        begin = time.perf_counter()
        for _ in range(times):
            call()
        blocks.append((time.perf_counter() - begin) / times)
    return 1e3 * min(blocks)


def once_ms(call: Callable[[], object]) -> float:
    """ms of a call that can't be repeated, as a trace."""
    begin = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begin)
