"""Times that are known between two bounds, and their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Bounds(NamedTuple):
    """At least and at most: ms of a step, or shares."""

    lower: float
    upper: float

    def within(self, factor: float) -> Bounds:
        """Wider by a factor at either end."""
        return Bounds(self.lower / factor, self.upper * factor)

    def times(self, number: float) -> Bounds:
        """Both ends so many times."""
        return Bounds(self.lower * number, self.upper * number)

    @property
    def middle(self) -> float:
        """Between the two as factors; between them as lengths where the lower is nothing."""
        return math.sqrt(self.lower * self.upper) if self.lower > 0 else (self.lower + self.upper) / 2


def add_independent(terms: Iterable[Bounds]) -> Bounds:
    """The sum of terms that are wrong independently of each other."""
    every = list(terms)
    middle = sum(term.middle for term in every)
    below = math.sqrt(sum((term.middle - term.lower) ** 2 for term in every))
    above = math.sqrt(sum((term.upper - term.middle) ** 2 for term in every))
    return Bounds(middle - below, middle + above)
