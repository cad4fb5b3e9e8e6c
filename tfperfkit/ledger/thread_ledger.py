"""Time on threads other than the one that drives TensorFlow, by call site.

A thread that the main thread waits for, and one on which TensorFlow calls Python (a generator, a PyDataset, a
``py_function``) while the main thread is in TensorFlow, hangs below the main thread's line of that moment: that call
caused the work. All other threads have a root of their own, the line that they were started with. These threads run
next to the main thread, so their seconds are excluded from the run's time, and may add up to more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from tfperfkit.clock import NS_PER_S
from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.records.samples import TENSORFLOW, Stack, read_log

ThreadPart = Literal["called by TensorFlow", "awaited", "busy"]
#: Kinds of samples of other threads. One moment of a thread counts for the first of them that has it.
_KINDS: tuple[tuple[str, ThreadPart], ...] = (
    ("called", "called by TensorFlow"),
    ("awaited", "awaited"),
    ("busy", "busy"),
)


class ThreadTime(NamedTuple):
    """``ledger``: in seconds of these threads. ``samples``: how many samples it rests on."""

    ledger: Ledger
    samples: int


def make_thread_ledger(rows: Iterable[Any]) -> ThreadTime:
    """Make the ledger of the samples of other threads in the stream ``samples``."""
    listed = list(rows)
    own = read_log(listed)
    main = dict(own.inside(own.whole))
    taken: Counter[tuple[Stack, ThreadPart]] = Counter()
    seen: set[tuple[int, Stack]] = set()
    for kind, part in _KINDS:
        log = read_log(listed, kind)
        for when, stack in log.inside(log.whole):
            if stack.frames and (when, stack) not in seen:
                seen.add((when, stack))
                taken[_hang_below(main.get(when), stack, part), part] += log.pause(when)
    return ThreadTime(Ledger(Entry(stack, part, ns / NS_PER_S) for (stack, part), ns in taken.items()), len(seen))


def _hang_below(cause: Stack | None, stack: Stack, part: ThreadPart) -> Stack:
    """Return the stack of a thread below the line of the main thread that caused it, if that is known."""
    if cause is None or not cause.frames or not _is_cause(cause, part) or _are_same(cause.frames, stack.frames):
        return stack
    return stack._replace(frames=(*cause.frames, *stack.frames))


def _is_cause(main: Stack, part: ThreadPart) -> bool:
    if part == "awaited":
        return main.activity in ("waiting", "python", "dispatch")
    return part == "called by TensorFlow" and (main.library in TENSORFLOW or main.activity == "graph")


def _are_same(main: Sequence[object], other: Sequence[object]) -> bool:
    """Return whether both begin alike: then the sampled thread is the main thread itself."""
    return main[0] == other[0]
