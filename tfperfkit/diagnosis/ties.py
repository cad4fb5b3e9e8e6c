"""Findings whose order is not known: their ranges of saved time overlap so far that either may save more."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tfperfkit import calibration
from tfperfkit.model import Finding

#: Ends this close (as a share of the larger one) are one.
_SAME = 1e-6


def mark_ties(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings in their order, each with the numbers (from 1) of those before it that it can't be told from.

    Two can't be told apart if the later one saves more with a probability of ``TIED`` or more, where each figure within
    a range is as likely as another.
    """
    return tuple(_mark(item, findings[:index]) for index, item in enumerate(findings))


def _mark(item: Finding, earlier: Sequence[Finding]) -> Finding:
    tied = tuple(number for number, other in enumerate(earlier, 1) if _can_save_more(item, other))
    return msgspec.structs.replace(item, ties_with=tied) if tied != item.ties_with else item


def _can_save_more(later: Finding, earlier: Finding) -> bool:
    if later.saves_s is None or earlier.saves_s is None or "info" in (later.severity, earlier.severity):
        return False
    return probability_of_more(later.saves_s, earlier.saves_s) >= calibration.TIED.value


def probability_of_more(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the probability that a figure of ``one`` range is larger than a figure of the ``other``, both uniform."""
    least = _SAME * max(*one, *other, _SAME)
    (low, high), (from_, to) = ((begin, max(end, begin + least)) for begin, end in (one, other))
    begin, end = ((figure - from_) / (to - from_) for figure in (low, high))
    return min(max((_area_below(end) - _area_below(begin)) / (end - begin), 0.0), 1.0)


def _area_below(figure: float) -> float:
    """Integrate the share of a range from 0 to 1 that is below a figure, up to ``figure``."""
    return 0.0 if figure <= 0 else figure - 0.5 if figure >= 1 else figure * figure / 2
