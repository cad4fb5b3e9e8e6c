"""The physical costs that rules assume, each measured by a small program of its own.

A measure is a function that prepares once and returns what one round measures: a list of points in the measure's unit.
``MEASURES`` has them by name; a ``Threshold`` names the measure that it comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Measure(NamedTuple):
    """``prepare`` makes the round; ``unit`` is that of its points; ``says`` what they are."""

    unit: str
    says: str
    prepare: Callable[[], Callable[[], list[float]]]


MEASURES: dict[str, Measure] = {}


def measure(unit: str, says: str) -> Callable[[Callable[[], Callable[[], list[float]]]], Callable]:
    """Registers a function under its name."""

    def register(prepare: Callable[[], Callable[[], list[float]]]) -> Callable:
        MEASURES[prepare.__name__] = Measure(unit, says, prepare)
        return prepare

    return register
