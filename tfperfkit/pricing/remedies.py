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


def price(remedy: Remedy, part: Part = WHOLE, left: Left = NOTHING, *, freed: float = 0.0) -> Range:
    """Return the gain of a remedy that changes ``part`` of the time.

    ``left``: what is left of the part. ``freed``: the share of the rest of the time that goes too, at best, because the
    part no longer takes cores or caches from it.
    """
    low, high = _KINDS[type(remedy)](part, left)
    high = 1 - (1 - high) * (1 - freed)
    low = min(max(low, 0.0), MOST)
    return from_shares(low, min(max(high, low), MOST))


def bound(share: float) -> UpTo:
    """Return the gain of a remedy of which nobody can tell how much of its share of the time goes."""
    return up_to(min(share, MOST))


def _take_off(part: Part, left: Left) -> Saved:
    return part.low * (1 - left.high), part.high * (1 - left.low)


def _remove(part: Part, left: Left) -> Saved:
    """Assume that the rest doesn't wait for what is removed, and takes as long as before."""
    return _take_off(part, left)


def _every(part: Part, left: Left) -> Saved:
    """Assume that each time that remains costs what it costs now; ``left``: how many of them remain."""
    return _take_off(part, left)


def _hoist(part: Part, left: Left) -> Saved:
    """Assume that making it once costs as much as in one iteration now, which is nothing of many, and that it stays in
    memory. ``left``: what each iteration still does with it."""
    return _take_off(part, left)


def _keep_trace(part: Part, left: Left) -> Saved:
    """Assume that the graph which is kept runs as fast as those that are traced. The first trace of each function is
    in ``left``, or not in the part."""
    return _take_off(part, left)


def _batch_loop(part: Part, left: Left) -> Saved:
    """Assume that the kernels do as much arithmetic, in one call for all iterations: ``left`` is that arithmetic."""
    return _take_off(part, left)


def _compile(part: Part, left: Left) -> Saved:
    """Assume that no operation is dispatched from Python: ``left`` is a call, the kernels, and what the runtime of
    graphs takes to start each of them."""
    return _take_off(part, left)


def _call_directly(part: Part, left: Left) -> Saved:
    """Assume that the compiled call takes as long as it does within Keras' method: ``left`` is the call."""
    return _take_off(part, left)


def _replace_ops(part: Part, left: Left) -> Saved:
    """Assume that the replacement reaches the machine's arithmetic and memory rates within a factor: ``left``.

    Work that ran next to the operations is excluded from the part.
    """
    return _take_off(part, left)


def _change_stage(part: Part, left: Left) -> Saved:
    """Assume that input and step run at the same time, on the cores that there are (``pricing.overlap``): ``left`` is
    the step as it runs then."""
    return _take_off(part, left)


def _set(part: Part, left: Left) -> Saved:
    """Assume that the setting changes the part alone: ``left`` is the part as it runs with it."""
    return _take_off(part, left)


def _enlarge_batches(part: Part, left: Left) -> Saved:
    """Assume that what doesn't grow with the batch is divided among its examples: ``left`` is an example's time."""
    return _take_off(part, left)


def _rewrite(part: Part, left: Left) -> Saved:
    """Assume nothing of the new code but ``left``, which has to hold for any that does the same."""
    return _take_off(part, left)


_KINDS: dict[type[Any], Callable[[Part, Left], Saved]] = {
    Remove: _remove,
    Every: _every,
    Hoist: _hoist,
    BatchLoop: _batch_loop,
    Compile: _compile,
    CallDirectly: _call_directly,
    KeepTrace: _keep_trace,
    ChangeStage: _change_stage,
    ReplaceOps: _replace_ops,
    Setting: _set,
    BatchSize: _enlarge_batches,
    Rewrite: _rewrite,
}
