"""How wide a range of saved seconds has to be, from predictions that were compared with fixed scripts.

The ends that a rule and the engine compute know of the samples' uncertainty and of what is left after the remedy. They
don't know what else a change does: caches, cold Python, the machine's load in another run. Those errors are not
modelled but measured: ``outcomes`` holds what each prediction of the past came to. An end is moved out so far that it
would have held 90 % of these, where outcomes of the same kind of remedy count most. That is conformal prediction for a
range (Romano, Patterson and Candes, 2019) with weights (Barber, Candes, Ramdas and Tibshirani, 2023).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from tfperfkit.calibration import BUSY, Chosen, Threshold
from tfperfkit.model import Finding
from tfperfkit.pricing.outcomes import OUTCOMES, Outcome

ASKED = Threshold(
    0.9,
    "share",
    "share of past outcomes that each end of a range of saved seconds has to hold",
    Chosen("both ends together hold 80 %, as weather forecasts of an interval do"),
)
OTHER_KIND = Threshold(
    0.25,
    "number",
    "weight of an outcome of another kind of remedy, next to 1 of the same kind",
    Chosen("a kind has 2 to 9 outcomes: with four of its own it counts as much as 16 others"),
)
UNDER_LOAD = Threshold(
    0.5,
    "number",
    "weight of an outcome on a busy machine, next to 1 on a quiet one",
    Chosen("such outcomes are off by the load's changes between the two runs too"),
)


class Spread(NamedTuple):
    """Factors on the lower end (up to 1) and on the upper end (from 1) of a range of seconds."""

    low: float
    high: float


def find_spread(kind: type[Any], outcomes: Collection[Outcome] = OUTCOMES) -> Spread:
    """Return the factors for a kind of remedy."""
    weights = [
        (1.0 if outcome.kind == kind.__name__ else OTHER_KIND.value) * (1.0 if outcome.quiet else UNDER_LOAD.value)
        for outcome in outcomes
    ]
    below = [outcome.low_s / max(outcome.saved_s, _LEAST_S) for outcome in outcomes]
    above = [outcome.saved_s / max(outcome.high_s, _LEAST_S) for outcome in outcomes]
    return Spread(
        1 / max(_weighted_quantile(below, weights, ASKED.value), 1.0),
        max(_weighted_quantile(above, weights, ASKED.value), 1.0),
    )


_LEAST_S = 0.01


def _weighted_quantile(values: Sequence[float], weights: Sequence[float], share: float) -> float:
    """Return the least value at or below which this share of the weight is; 1.0 without values."""
    needed, reached = share * sum(weights), 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        reached += weight
        if reached >= needed:
            return value
    return 1.0


def widen(item: Finding, wall_s: float, waited_share: float | None = None) -> Finding:
    """Return a finding whose range of saved seconds is as wide as past predictions ask for.

    ``waited_share``: the share of the time that the training thread waited for a core. A run on a quiet machine would
    take that much less, so that the lower end falls by it from ``BUSY`` on.
    """
    if item.saves_s is None:
        return item
    low, high = item.saves_s
    spread = find_spread(type(item.remedy))
    waited = waited_share or 0.0
    quiet = 1 - waited if waited >= BUSY.value else 1.0
    return msgspec.structs.replace(item, saves_s=(low * spread.low * quiet, min(high * spread.high, wall_s)))
