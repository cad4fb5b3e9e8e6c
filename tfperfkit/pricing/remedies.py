"""The price of a remedy: the share of the time that goes, of the part that it changes and of what is left of that part.

One formula holds for all kinds of remedies. They differ in what they assume of ``left`` and of the rest of the time,
which the docstring of each kind states (``tfperfkit.remedy``).
"""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.gain import Range, UpTo, saving, speedup, up_to
from tfperfkit.pricing.facts import NOTHING, WHOLE, Left, Part
from tfperfkit.remedy import Remedy

#: More of the time than this is not said to go: samples can't tell what is left.
MOST = saving(calibration.MAX_SAMPLED.value)


def price(remedy: Remedy, part: Part = WHOLE, left: Left = NOTHING, *, freed: float = 0.0) -> Range:
    """Return the gain of a remedy that changes ``part`` of the time, under the assumptions of its kind.

    ``left``: what is left of the part. ``freed``: the share of the rest of the time that goes too, at best, because the
    part no longer takes cores or caches from it. No less than nothing goes, and no more than ``MOST``. Raises
    ``TypeError`` for what is no remedy.
    """
    if not isinstance(remedy, Remedy):
        raise TypeError(f"no kind of remedy: {remedy!r}")
    goes = part.without(left)
    low = min(goes.low, MOST)
    high = min(1 - (1 - goes.high) * (1 - freed), MOST)
    likely = (low + high) / 2
    if part.likely is not None or left.likely is not None:
        taken = (part.low + part.high) / 2 if part.likely is None else part.likely
        stays = (left.low + left.high) / 2 if left.likely is None else left.likely
        likely = min(max(taken * (1 - stays), low), high)
    return Range(speedup(low), speedup(likely), speedup(high))


def bound(share: float) -> UpTo:
    """Return the gain of a remedy of which nobody can tell how much of its share of the time goes."""
    return up_to(min(share, MOST))
