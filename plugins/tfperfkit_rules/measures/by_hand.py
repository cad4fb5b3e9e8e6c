"""Garbage collections that a line of the user's asked for, told apart from Python's own.

A collection holds the interpreter's lock, so stack samples hardly fall into it: the first sample that can be taken is
behind it, at the line that it returns to. Behind some none is taken in time. Those that last as long are full ones too,
which Python makes by itself only when its objects have grown by a quarter: where most full ones were seen to be the
line's, the others are.
"""

from __future__ import annotations

import bisect
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.records.samples import Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.kinds import kind_of

BEHIND_COLLECTION_NS = Threshold(
    20_000_000,
    "ns",
    "time after a garbage collection in which the first sample is of the line that asked for it",
    Derived("twice the 10 ms between two samples: the sampler waits for the GIL meanwhile"),
)


class ByHand(NamedTuple):
    """``share``: of the clean steps' time, in these collections; ``times`` that they were seen at a line; ``at``: by
    line."""

    share: float
    times: int
    at: Counter[Place]


_KNOWN: WeakKeyDictionary[Evidence, ByHand] = WeakKeyDictionary()


def collected_by_hand(evidence: Evidence) -> ByHand:
    """See the module; a share of 0 where collections were not timed."""
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _collected(evidence)
    return _KNOWN[evidence]


def _collected(evidence: Evidence) -> ByHand:
    clean = [(step.begin_ns, step.end_ns) for step in evidence.steps.clean]
    whole = sum(end - begin for begin, end in clean)
    samples = evidence.log.inside(clean)
    asked = {id(stack): place for _, stack in samples if (place := _place(evidence, stack)) is not None}
    if not whole or not asked:
        return ByHand(0.0, 0, Counter())
    seen, at, index = list[tuple[int, int]](), Counter[Place](), 0
    for begin, end in evidence.collections[:]:
        while index < len(samples) and samples[index][0] < begin:
            index += 1
        if index == len(samples):
            break
        when, stack = samples[index]
        if id(stack) in asked and when <= end + BEHIND_COLLECTION_NS.value:
            seen.append((begin, end))
            at[asked[id(stack)]] += 1
    took = sum(end - begin for begin, end in _with_unseen(seen, evidence.collections[:], clean))
    return ByHand(min(took / whole, 1.0), at.total(), at)


def _with_unseen(
    seen: list[tuple[int, int]], every: Sequence[tuple[int, int]], clean: Sequence[tuple[int, int]]
) -> Sequence[tuple[int, int]]:
    """These collections and, where they are most of the full ones in clean steps, the other full ones."""
    if not seen:
        return seen
    full_ns = shared.MOSTLY.value * statistics.median(end - begin for begin, end in seen)
    begins = [begin for begin, _ in clean]
    full = []
    for begin, end in every:
        step = bisect.bisect_right(begins, begin) - 1
        if step >= 0 and begin < clean[step][1] and end - begin >= full_ns:
            full.append((begin, end))
    return sorted({*seen, *full}) if len(seen) >= shared.MOSTLY.value * len(full) else seen


def _place(evidence: Evidence, stack: Stack) -> Place | None:
    leaf = stack.frames[-1] if stack.frames else None
    if leaf is None or kind_of(evidence, leaf).role != "collect":
        return None
    return leaf.file, leaf.line
