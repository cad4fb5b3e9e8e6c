"""Garbage collections that a line of the person's asked for, told apart from Python's own.

A collection holds the interpreter's lock, so stack samples hardly fall into it: the first sample that can be taken is
behind it, at the line that it returns to.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.records.samples import Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import step as calibrated
from tfperfkit_rules.measures.kinds import kind_of


class ByHand(NamedTuple):
    """``share``: of the clean steps' time, in these collections; ``times`` that they were seen; ``at``: by line."""

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
    took, at, index = 0, Counter[Place](), 0
    for begin, end in evidence.collections[:]:
        while index < len(samples) and samples[index][0] < begin:
            index += 1
        if index == len(samples):
            break
        when, stack = samples[index]
        if id(stack) in asked and when <= end + calibrated.BEHIND_COLLECTION_NS.value:
            took += end - begin
            at[asked[id(stack)]] += 1
    return ByHand(min(took / whole, 1.0), at.total(), at)


def _place(evidence: Evidence, stack: Stack) -> Place | None:
    leaf = stack.frames[-1] if stack.frames else None
    if leaf is None or kind_of(evidence, leaf).role != "collect":
        return None
    return leaf.file, leaf.line
