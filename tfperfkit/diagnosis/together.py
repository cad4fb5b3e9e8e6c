"""What a finding gains once those before it are fixed: beside a large cost a small one seems to be worth nothing.

Amdahl's law over what is left: a step of 1 of which an earlier fix takes ``a`` away, and this one ``b``, goes from
``1 - a`` to ``1 - a - b``. That holds only if the two are different time, so it is said of findings of different
families (those that show the same time were folded into one before, see ``merging``) and where all costs together fit
into the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from tfperfkit.diagnosis.wide_ranges import WIDEST
from tfperfkit.gain import middle
from tfperfkit.model import Finding, OnceFixed

_OF_STEPS = ("step", "turn")


def together(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, which stand in their order, each with what it gains once those before it are fixed."""
    return tuple(_with(item, findings[:index]) for index, item in enumerate(findings))


def _with(item: Finding, earlier: Sequence[Finding]) -> Finding:
    before = [other for other in earlier if _counts(other) and _same_time(other, item)]
    if not before or not _counts(item) or any(other.family == item.family for other in before):
        return item
    if sum(other.share_of_step for other in (*before, item)) > 1:
        return item  # some of it is the same time
    low = _factor(item, before, _low)
    alone = item.predicted_speedup or item.at_least
    if low is None or alone is None or low <= alone:
        return item
    ranged = all(each.predicted_range is not None for each in (*before, item))
    high = _factor(item, before, _high) if ranged else None
    # What is left is a small difference of large shares: a figure within a range without an end would be chance.
    bounds = (low, high) if high is not None and high <= WIDEST * low else None
    codes = tuple(dict.fromkeys(other.code for other in before))
    once = OnceFixed(codes=codes, speedup=middle(bounds) if bounds else None, range=bounds, at_least=low)
    return msgspec.structs.replace(item, once=once)


def _factor(item: Finding, before: Sequence[Finding], at: Callable[[Finding], float]) -> float | None:
    """The factor where all of them gain what ``at`` says; None where nothing would be left."""
    left = 1 - sum(1 - 1 / max(at(other), 1.0) for other in before)
    after = left - (1 - 1 / max(at(item), 1.0))
    return left / after if after > 0 else None


def _low(item: Finding) -> float:
    return item.predicted_range[0] if item.predicted_range is not None else item.at_least or 1.0


def _high(item: Finding) -> float:
    return item.predicted_range[1] if item.predicted_range is not None else 1.0


def _counts(item: Finding) -> bool:
    """Whether it has a range, or its lower end, of the steps' time."""
    known = item.predicted_range is not None or item.at_least is not None
    return known and item.basis in _OF_STEPS and item.severity != "info"


def _same_time(one: Finding, other: Finding) -> bool:
    return one.work == other.work and one.basis == other.basis
