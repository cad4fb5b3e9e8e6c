"""One pricing function for each kind of remedy. Each states what it assumes.

All return the shares of the time that go, at worst and at best. ``price`` bounds them: a remedy takes off no less than
nothing, and no more than the part that it changes and what that part kept from the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfperfkit import calibration
from tfperfkit.gain import Range, UpTo, from_shares, saving, up_to
from tfperfkit.pricing.facts import NOTHING, WHOLE, Left, Part
from tfperfkit.remedy import (
    BatchLoop,
    BatchSize,
    CallDirectly,
    ChangeStage,
    Compile,
    Every,
    Hoist,
    KeepTrace,
    Remedy,
    Remove,
    ReplaceOps,
    Rewrite,
    Setting,
)

#: More of the time than this is not said to go: samples can't tell what is left.
MOST = saving(calibration.MAX_SAMPLED.value)
#: How much of the time goes, at worst and at best.
Saved = tuple[float, float]


def price(remedy: Remedy, part: Part = WHOLE, left: Left | None = None, *, freed: float = 0.0) -> Range:
    """Return the gain of a remedy that changes ``part`` of the time.

    ``left``: what is left of the part; None for what the kind of remedy leaves by itself. ``freed``: the share of the
    rest of the time that goes too, at best, because the part no longer takes cores or caches from it.
    """
    low, high = _KINDS[type(remedy)](part, left)
    high = 1 - (1 - high) * (1 - freed)
    low = min(max(low, 0.0), MOST)
    return from_shares(low, min(max(high, low), MOST))


def bound(part: Part) -> UpTo:
    """Return the gain of a remedy of which nobody can tell how much of its part goes."""
    return up_to(min(part.high, MOST))


def _take_off(part: Part, left: Left) -> Saved:
    """Take a part off the time, but for what is left of it. The rest takes as long as before."""
    return part.low * (1 - left.high), part.high * (1 - left.low)


def _remove(part: Part, left: Left | None) -> Saved:
    """Assume that nothing takes the place of what is removed, and that the rest doesn't wait for it."""
    return _take_off(part, left or NOTHING)


def _every(part: Part, left: Left | None) -> Saved:
    """Assume that each of the remaining times costs what it costs now. At worst they take ``SELDOM_SHARE`` of the time,
    as the interval that is advised (``gain.every``)."""
    return _take_off(part, left or Left(0.0, calibration.SELDOM_SHARE.value))


def _hoist(part: Part, left: Left | None) -> Saved:
    """Assume that what is made once costs as much as it costs now in one iteration: nothing of many."""
    return _take_off(part, left or NOTHING)


def _keep_trace(part: Part, left: Left | None) -> Saved:
    """Assume that the first trace of each function stays, which is not in ``part``. The graph that is kept runs as
    fast as those that are traced."""
    return _take_off(part, left or NOTHING)


def _replace(part: Part, left: Left | None) -> Saved:
    """Assume that what takes the place of the part costs ``left``: kernels by their arithmetic and memory, calls by
    their number. The rest takes as long as before."""
    return _take_off(part, left or NOTHING)


def _rerun(part: Part, left: Left | None) -> Saved:
    """Assume that the facts are of the step as it runs afterwards: input and step at the same time, the slower of the
    two setting the pace, and sharing cores (``pricing.overlap``), or a step per example with its fixed costs divided.
    """
    return _take_off(part, left or NOTHING)


_KINDS: dict[type[Any], Callable[[Part, Left | None], Saved]] = {
    Remove: _remove,
    Every: _every,
    Hoist: _hoist,
    KeepTrace: _keep_trace,
    BatchLoop: _replace,
    Compile: _replace,
    CallDirectly: _replace,
    ReplaceOps: _replace,
    Rewrite: _replace,
    ChangeStage: _rerun,
    Setting: _rerun,
    BatchSize: _rerun,
}
