"""Result of a comparison of two measured times: the ratio, its interval, a verdict, and the smallest difference that
could have been detected.
"""

from __future__ import annotations

from typing import Literal

import msgspec

#: "no difference shown" is no proof that there is none: ``Comparison.smallest`` says what would have been seen.
Verdict = Literal["faster", "slower", "no difference shown"]
#: Unit that the interval takes as independent of each other.
Unit = Literal["pairs", "blocks"]
#: Confidence of the interval, and of the equivalent test.
CONFIDENCE = 0.95
#: A difference of ``Comparison.smallest`` would have been found with this chance.
POWER = 0.80


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """B measured against A, both in the same unit of time.

    ``ratio``: time of B over time of A (0.8: B takes a fifth less); ``low`` and ``high`` its 95 % interval, None where
    there is too little to give one (``reason`` says what). ``smallest``: the smallest change of the time (0.03: 3 %)
    that these runs detect with 80 % power. ``samples``: how many ``unit`` of A and of B the interval rests on.
    ``assumption``: what has to hold for the interval to be right, a sentence. ``notes``: what the reader should know of
    the data: drift, outliers that were kept apart.
    """

    ratio: float
    low: float | None = None
    high: float | None = None
    smallest: float | None = None
    unit: Unit = "pairs"
    samples: tuple[int, int] = (0, 0)
    reason: str = ""
    assumption: str = ""
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """ "faster" and "slower" of B, and only where the whole interval lies on one side of 1."""
        if self.high is not None and self.high < 1.0:
            return "faster"
        return "slower" if self.low is not None and self.low > 1.0 else "no difference shown"

    @property
    def speedup(self) -> float:
        """Return how many times faster B is: 1.25 where it takes 0.8 of the time."""
        return 1.0 / self.ratio
