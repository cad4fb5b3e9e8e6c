"""Time that a finding's remedy saves in other parts of the run, where the same cause is at work: the seconds include
it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tfperfkit.model import Elsewhere, Finding

#: Less than this many seconds is not said.
_MIN_S = 0.1


def saved_elsewhere(item: Finding, more: Iterable[Elsewhere], wall_s: float) -> Finding:
    """With the seconds of its other places, ``more`` besides those that its rule knew, and a sentence on them.

    If the saving in its own place is unknown, other places are not reported.
    """
    if item.saves_s is None:
        return item if not item.elsewhere else msgspec.structs.replace(item, elsewhere=())
    every = tuple(other for other in (*item.elsewhere, *more) if max(other.seconds) >= _MIN_S)
    if not every:
        return item if not item.elsewhere else msgspec.structs.replace(item, elsewhere=())
    added = [sum(other.seconds[end] for other in every) for end in (0, 1)]
    low, high = (min(end + more_s, wall_s) for end, more_s in zip(item.saves_s, added, strict=True))
    said = "; ".join(f"{_span(other.seconds)} s of {other.where}" for other in every)
    detail = f"{item.detail}\nThe seconds count what the same change saves elsewhere: {said}.".strip()
    return msgspec.structs.replace(item, saves_s=(low, high), elsewhere=every, detail=detail)


def _span(seconds: tuple[float, float]) -> str:
    low, high = (f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}" for value in seconds)
    return low if low == high else f"{low} to {high}"
