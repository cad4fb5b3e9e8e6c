"""The price of a remedy: the share of the time that goes, of the part that it changes and of what is left of that part.

One formula holds for all kinds of remedies. They differ in what they assume of ``left`` and of the rest of the time,
which ``ASSUMES`` states.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfperfkit import calibration
from tfperfkit.gain import Range, UpTo, saving, speedup, up_to
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
#: The assumptions of each kind of remedy, in whole sentences.
ASSUMES: Mapping[type[Any], str] = {
    Remove: "The rest doesn't wait for what is removed, and takes as long as before.",
    Every: "Each time that remains costs as much as it does now. Their number is left.",
    Hoist: "Making it once costs as much as one iteration does now, and it stays in memory.",
    BatchLoop: "The kernels do as much arithmetic, in one call for all iterations. That arithmetic is left.",
    Compile: "No operation is dispatched from Python. A call, the kernels and their start in a graph are left.",
    CallDirectly: "The compiled call takes as long as it does within Keras' method. The call is left.",
    KeepTrace: "The kept graph runs as fast as those that are traced. The first trace of each function stays.",
    ChangeStage: "Input and step run at the same time on the cores that there are. The step as it runs then is left.",
    ReplaceOps: "The replacement reaches the machine's rates within a factor. Work next to the operations stays.",
    Setting: "The setting changes the part alone. The part as it runs with the setting is left.",
    BatchSize: "Time that doesn't grow with the batch is divided among its examples. An example's time is left.",
    Rewrite: "Nothing is known of the new code. The rest has to hold for any code that does the same.",
}


def price(remedy: Remedy, part: Part = WHOLE, left: Left = NOTHING, *, freed: float = 0.0) -> Range:
    """Return the gain of a remedy that changes ``part`` of the time, under what ``ASSUMES`` says of its kind.

    ``left``: what is left of the part. ``freed``: the share of the rest of the time that goes too, at best, because the
    part no longer takes cores or caches from it. No less than nothing goes, and no more than ``MOST``. Raises
    ``KeyError`` for a kind of remedy without assumptions.
    """
    ASSUMES[type(remedy)]
    low = min(max(part.low * (1 - left.high), 0.0), MOST)
    best = part.high * (1 - left.low)
    high = min(max(1 - (1 - best) * (1 - freed), low), MOST)
    likely = (low + high) / 2
    if part.likely is not None or left.likely is not None:
        taken = (part.low + part.high) / 2 if part.likely is None else part.likely
        stays = (left.low + left.high) / 2 if left.likely is None else left.likely
        likely = min(max(taken * (1 - stays), low), high)
    return Range(speedup(low), speedup(likely), speedup(high))


def bound(share: float) -> UpTo:
    """Return the gain of a remedy of which nobody can tell how much of its share of the time goes."""
    return up_to(min(share, MOST))
