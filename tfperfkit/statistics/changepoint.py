"""Whether a series that comes in bit by bit has become larger than its own past: a sequential test by ranks.

Each value is ranked among all before it. As long as they are exchangeable these ranks are independent and uniform,
whatever the values are distributed like, so what is bet on high ranks grows on average no more than it is fed: the
Shiryaev-Roberts sum of these bets crosses a limit A after A values on average, at the earliest. That is the stated
rate of false alarms. (Conformal test martingales: Vovk, Nouretdinov and Gammerman, ICML 2003; as change detectors:
Volkhonskiy et al., COPA 2017; the bound on the run length: Shin, Ramdas and Rinaldo, "E-detectors", 2023.)

Neighbouring values must not resemble each other: whoever feeds it joins as many as ``autocorrelation_time`` says.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

#: A bet on rank p (a share, 0: the largest so far) pays POWER * p ** (POWER - 1), whose mean over uniform p is 1.
#: With less, larger changes are found sooner and smaller ones later.
POWER = 0.5
#: Values that are ranked: older ones leave. Of so many a value can be known to be the largest to 1 in 500.
MAX_PAST = 500


class GrowthTest:
    """``add`` each value; it says True where values have become larger, with a mean of at least ``run_length`` values
    between two false alarms. It ranks against ``past``, of which there should be a hundred or more."""

    def __init__(self, past: Sequence[float], run_length: float) -> None:
        self._limit = run_length
        self._order = list(past)[-MAX_PAST:]
        self._sorted = sorted(self._order)
        self._sum = 0.0

    def add(self, value: float) -> bool:
        """Return whether that is an alarm. Ties count against it: the rate of false alarms is no larger for them."""
        count = len(self._sorted)
        larger = count - bisect.bisect_left(self._sorted, value)
        rank = (larger + 1) / (count + 1)
        self._sum = (1.0 + self._sum) * POWER * rank ** (POWER - 1)
        bisect.insort(self._sorted, value)
        self._order.append(value)
        if len(self._order) > MAX_PAST:
            del self._sorted[bisect.bisect_left(self._sorted, self._order.pop(0))]
        return self._sum >= self._limit
