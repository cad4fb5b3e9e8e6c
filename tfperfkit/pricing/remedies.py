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
    Every: "Each time that remains costs what it costs now. What is left is how many of them remain.",
    Hoist: "Making it once costs as much as one iteration does now, and it stays in memory.",
    BatchLoop: "The kernels do as much arithmetic, in one call for all iterations. What is left is that arithmetic.",
    Compile: "No operation is dispatched from Python. What is left is a call, the kernels, and their start in a graph.",
    CallDirectly: "The compiled call takes as long as it does within Keras' method. What is left is the call.",
    KeepTrace: "The kept graph runs as fast as those that are traced. The first trace of each function stays.",
    ChangeStage: "Input and step run at the same time on the cores that there are. What is left is the step then.",
    ReplaceOps: "The replacement reaches the machine's rates within a factor. Work next to the operations stays.",
    Setting: "The setting changes the part alone. What is left is the part as it runs with it.",
    BatchSize: "Time that doesn't grow with the batch is divided among its examples. An example's time is left.",
    Rewrite: "Nothing is known of the new code. What is left has to hold for any that does the same.",
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
