"""Gain of a finding once the findings before it are fixed: next to a large cost a small one seems to be worth nothing.

Amdahl's law over what is left: a step of 1 of which an earlier fix takes ``a`` away, and this one ``b``, goes from
``1 - a`` to ``1 - a - b``. That holds only if the two are different time, so a factor is given for findings of
different families (those that show the same time were folded into one before, see ``merging``) if all costs together
fit into the step. Seconds are given in any case: no more than the earlier fixes leave of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tfperfkit.gain import AtLeast, between, saving
from tfperfkit.model import AfterEarlier, Finding, OnceFixed

_OF_STEPS = ("step", "turn")


def add_gains_after(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings in their order, each with its gain once the findings before it are fixed."""
    fixed = (_add_gain_once_fixed(item, findings[:index]) for index, item in enumerate(findings))
    return tuple(_add_seconds_after(item, findings[:index]) for index, item in enumerate(fixed))


def _add_seconds_after(item: Finding, earlier: Sequence[Finding]) -> Finding:
    """Return the finding with the seconds that it saves once the earlier ones are fixed."""
    numbered = enumerate((other for other in earlier if not other.is_note), 1)
    before = [(number, other) for number, other in numbered if _counts(other) and _same_time(other, item)]
    if not before or not _counts(item) or item.saves_s is None:
        return item
    least, most = item.saves_s
    if item.costs_s and item.share_of_step > 0:
        whole_s = item.costs_s / item.share_of_step
        surely = sum(saving(other.gain.low or 1.0) for _, other in before)
        at_most = sum(saving(other.gain.high or other.gain.factor) for _, other in before)
        # If the earlier fixes take as much as they can, so much of the finding's own time is among it.
        least = max(least - max(at_most + item.share_of_step - 1, 0.0) * whole_s, 0.0)
        most = min(most, max(1 - surely, 0.0) * whole_s)
    after = AfterEarlier(numbers=tuple(number for number, _ in before), saves_s=(min(least, most), most))
    return msgspec.structs.replace(item, after=after)


def _add_gain_once_fixed(item: Finding, earlier: Sequence[Finding]) -> Finding:
    """Return the finding with what it gains once the earlier ones are fixed."""
    before = [other for other in earlier if _counts(other) and _same_time(other, item)]
    if not before or not _counts(item) or any(other.family == item.family for other in before):
        return item
    if sum(other.share_of_step for other in (*before, item)) > 1:
        return item  # some of it is the same time
    low = _factor([each.gain.low for each in (*before, item)])
    if low is None or low <= item.gain.factor:
        return item
    high = _factor([each.gain.high for each in (*before, item)])
    gain = between(low, high) if high is not None else AtLeast(low)  # None: nothing may be left
    codes = tuple(dict.fromkeys(other.code for other in before))
    return msgspec.structs.replace(item, once=OnceFixed(codes=codes, gain=gain))


def _factor(factors: Sequence[float | None]) -> float | None:
    """Return the factor of the last one after the others; None if one is not known, or nothing would be left."""
    known = [factor for factor in factors if factor is not None]
    left = 1 - sum(map(saving, known[:-1]))
    after = left - saving(known[-1])
    return left / after if after > 0 and len(known) == len(factors) else None


def _counts(item: Finding) -> bool:
    """Return whether it has a range, or its lower end, of the steps' time."""
    return item.gain.low is not None and item.basis in _OF_STEPS and item.severity != "info"


def _same_time(one: Finding, other: Finding) -> bool:
    return one.work == other.work and one.basis == other.basis
