"""A predicted gain: one value, which says what is known of the factor by which something gets faster (1.0: nothing)."""

from __future__ import annotations

import math

import msgspec


class _Known(msgspec.Struct, frozen=True):
    """Questions that consumers ask about every gain. All are factors, unless they are called shares."""

    @property
    def low(self) -> float | None:
        """Return the lower end; None if it may gain nothing."""
        return None

    @property
    def high(self) -> float | None:
        """Return the upper end; None if it is not known."""
        return None

    @property
    def likely(self) -> float | None:
        """Return the factor to print; None if there is none."""
        return None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the factor from and to; None if one end is not known."""
        return None

    @property
    def factor(self) -> float:
        """Return the factor that counts where gains are compared: the likely one, else the lower end, else 1.0."""
        return 1.0

    @property
    def saved(self) -> float:
        """Return the share of the time (0 to 1) that goes by ``factor``."""
        return saving(self.factor)

    @property
    def surely(self) -> float:
        """Return the share of the time (0 to 1) that goes by ``low``; 0 if that is not known."""
        return saving(self.low or 1.0)


class Range(_Known, frozen=True, tag="range"):
    """Between ``low`` and ``high``, most likely ``likely``; all three are equal where no interval is known."""

    low: float
    likely: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def factor(self) -> float:
        return self.likely


class AtLeast(_Known, frozen=True, tag="at_least"):
    """``low`` or more: nothing in the run bounds it from above."""

    low: float

    @property
    def factor(self) -> float:
        return self.low


class UpTo(_Known, frozen=True, tag="up_to"):
    """About ``high`` if all of its share goes; nothing is predicted.

    It is no strict bound: the rest gets faster too if its memory traffic goes with it.
    """

    high: float


class Unknown(_Known, frozen=True, tag="unknown"):
    """Nothing is predicted. ``reason`` in words, "" if there is nothing to say."""

    reason: str = ""


Gain = Range | AtLeast | UpTo | Unknown


def saving(factor: float) -> float:
    """Return the share of the time (0 to 1) that goes if something gets ``factor`` times faster; 0 if it does not."""
    return 1 - 1 / factor if factor > 1 else 0.0


def middle(low: float, high: float) -> float:
    """Return the figure to print for factors from ``low`` to ``high``: the factor by which the centre of the saved time
    goes; ``low`` if there is none."""
    return 2 / (1 / low + 1 / high) if 0 < low < math.inf and high > 0 else low


def between(low: float, high: float) -> Range:
    """Return the gain of a factor from ``low`` to ``high``."""
    return Range(low, middle(low, high), high)


def finite(gain: Gain) -> Gain:
    """Return the gain as it may be printed: without numbers that are NaN or infinite."""
    match gain:
        case Range(likely=likely) if not math.isfinite(likely):
            return Unknown()
        case Range(low, likely, high) if not (math.isfinite(low) and math.isfinite(high)):
            return Range(likely, likely, likely)
        case AtLeast(low=end) | UpTo(high=end) if not math.isfinite(end):
            return Unknown()
    return gain
