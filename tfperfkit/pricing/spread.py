"""How wide a gain has to be, from predictions that were compared with fixed scripts.

The ends that a rule and the engine compute know of the samples' uncertainty and of what is left after the remedy. They
don't know what else a change does: caches, cold Python, the machine's load in another run. Those errors are not
modelled but measured: ``outcomes`` holds what each prediction of the past came to. An end is moved out so far that it
holds 90 % of the outcomes, where outcomes of the same kind of remedy count most. That is split conformal prediction for
each end of a range (Romano, Patterson and Candes, 2019) with weights (Barber, Candes, Ramdas and Tibshirani, 2023).

The saved share of the time is widened, and seconds and factor follow from it: they are one distribution.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec

from tfperfkit.calibration import BUSY, Chosen, Threshold
from tfperfkit.gain import AtLeast, Gain, Range, saving, speedup
from tfperfkit.model import Finding
from tfperfkit.pricing.outcomes import OUTCOMES, Outcome
from tfperfkit.pricing.remedies import MOST

ASKED = Threshold(
    0.9,
    "share",
    "share of outcomes that each end of a range of saved seconds has to hold",
    Chosen("both ends together hold 80 %, as weather forecasts of an interval do"),
)
OTHER_KIND = Threshold(
    0.5,
    "number",
    "weight of an outcome of another kind of remedy, next to 1 of the same kind",
    Chosen("half: a kind has up to 8 outcomes, and with a quarter 10 of 12 kinds have too few for ASKED"),
)
UNDER_LOAD = Threshold(
    0.5,
    "number",
    "weight of an outcome on a busy machine, next to 1 on a quiet one",
    Chosen("such outcomes are off by the load's changes between the two runs too"),
)


class Spread(NamedTuple):
    """Factors on the lower end (up to 1) and on the upper end (from 1) of a range of saved time."""

    low: float
    high: float


_LEAST_S = 0.01


def find_spread(kind: type[Any], outcomes: Collection[Outcome] = OUTCOMES) -> Spread:
    """Return the factors for a kind of remedy."""
    weights = [
        (1.0 if outcome.kind == kind.__name__ else OTHER_KIND.value) * (1.0 if outcome.quiet else UNDER_LOAD.value)
        for outcome in outcomes
    ]
    below = [outcome.low_s / max(outcome.saved_s, _LEAST_S) for outcome in outcomes]
    above = [outcome.saved_s / max(outcome.high_s, _LEAST_S) for outcome in outcomes]
    return Spread(
        1 / max(find_conformal_quantile(below, weights, ASKED.value), 1.0),
        max(find_conformal_quantile(above, weights, ASKED.value), 1.0),
    )


def find_conformal_quantile(errors: Sequence[float], weights: Sequence[float], share: float) -> float:
    """Return the error that the next outcome's error doesn't exceed, with a probability of ``share`` at least.

    The next outcome has a weight of 1 itself, and its error counts as infinite: the quantile is of all weights
    and that one (Barber, Candes, Ramdas and Tibshirani, "Conformal prediction beyond exchangeability", Annals of
    Statistics 51, 2023). For ``n`` equal errors' weights of 1 it is the error of rank ``ceil((n + 1) * share)`` (Vovk,
    Gammerman and Shafer, "Algorithmic learning in a random world", 2005). If the known outcomes weigh too little for
    ``share``, no finite error holds it. Then the largest one is returned, which holds ``w / (w + 1)``, where ``w`` is
    the sum of their weights. 1.0 without outcomes.
    """
    needed, reached = share * (sum(weights) + 1), 0.0
    for error, weight in sorted(zip(errors, weights, strict=True)):
        reached += weight
        if reached >= needed:
            return error
    return max(errors, default=1.0)


def widen_finding(item: Finding) -> Finding:
    """Return a finding whose gain, and whose seconds elsewhere, are as wide as past predictions ask for."""
    spread = find_spread(type(item.remedy))
    elsewhere = tuple(
        msgspec.structs.replace(each, seconds=(each.seconds[0] * spread.low, each.seconds[1] * spread.high))
        if each.seconds[0] >= 0  # outcomes are of saved time, not of what the remedy adds
        else each
        for each in item.elsewhere
    )
    return msgspec.structs.replace(item, gain=widen_gain(item.gain, spread), elsewhere=elsewhere)


def widen_gain(gain: Gain, spread: Spread) -> Gain:
    """Return a gain whose saved share of the time is wider by ``spread``; one without a lower end stays as it is.

    The upper end has two bounds. The saved time gets no more than ``spread.high`` times as long: that is the measured
    error. The rest of the time gets no more than ``spread.high`` times as fast: beyond what the prediction takes away,
    nothing else is left that could go. The likely factor lies between the ends: if a rule puts it at one, it is moved
    inside by as much of the range as an end leaves out of the outcomes. A likely factor of 1.0, which says that most
    likely nothing is saved, stays.
    """
    if isinstance(gain, AtLeast):
        return AtLeast(_lower(gain.low, spread))
    if not isinstance(gain, Range) or not all(map(math.isfinite, (gain.low, gain.likely, gain.high))):
        return gain
    most = saving(gain.high)
    widened = min(most * spread.high, 1 - (1 - most) / spread.high, MOST)
    low, high = _lower(gain.low, spread), max(gain.high, speedup(widened))
    if gain.likely <= 1 or low < gain.likely < high or low == high:
        return Range(low, gain.likely, high)
    margin = (1 - ASKED.value) * (saving(high) - saving(low))
    return Range(low, speedup(min(max(gain.saved, saving(low) + margin), saving(high) - margin)), high)


def _lower(factor: float, spread: Spread) -> float:
    return min(factor, speedup(saving(factor) * spread.low))


def find_quiet_share(waited_share: float | None) -> float:
    """Return the share of its time that a run would take on a quiet machine, at least.

    ``waited_share``: the share of the time that the training thread waited for a core; from ``BUSY`` on it counts.
    """
    waited = waited_share or 0.0
    return 1 - waited if waited >= BUSY.value else 1.0
