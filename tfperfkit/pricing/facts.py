"""Facts of a rule about a remedy's effect: which part of the time it changes, and the rest of that part."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit.gain import interval


class Part(NamedTuple):
    """Time that a remedy changes: a share (0 to 1) of the step, of an iteration or of the run, from and to.

    ``likely``: the median, if it is known; else the middle between the ends counts.
    """

    low: float
    high: float
    likely: float | None = None

    @classmethod
    def sampled(cls, share: float, samples: int) -> Part:
        """Return a share of ``samples`` stack samples with its 95 % interval (``gain.interval``)."""
        return cls(*interval(share, samples))

    @classmethod
    def timed(cls, share: float) -> Part:
        """Return a share that was timed call by call, with the error of such shares (``calibration.WINDOW_ERROR``)."""
        return cls(*interval(share, 0))

    @classmethod
    def exactly(cls, share: float) -> Part:
        """Return a share whose error is in the rest of the part."""
        return cls(share, share)

    def without(self, left: Left) -> Part:
        """Return the share that goes if ``left`` of the part stays."""
        low = max(self.low * (1 - left.high), 0.0)
        return Part(low, max(self.high * (1 - left.low), low))


#: The whole step: for remedies after which the time of the step is known, and not the time that they remove.
WHOLE = Part(1.0, 1.0)


class Left(NamedTuple):
    """The rest of a part after the remedy: shares of the part (0: nothing, 1: all), at best and at worst.

    ``likely``: the median, if it is known; else the middle between the ends counts.
    """

    low: float
    high: float
    likely: float | None = None

    @classmethod
    def exactly(cls, share: float) -> Left:
        """Return a known share."""
        return cls(share, share)

    @classmethod
    def saved(cls, low: float, high: float) -> Left:
        """Return what is left if between these shares of the part go."""
        return cls(1 - high, 1 - low)

    @classmethod
    def of_step(cls, best_ms: float, worst_ms: float, step_ms: float, likely_ms: float | None = None) -> Left:
        """Return what is left of a step of ``step_ms`` that takes from ``best_ms`` to ``worst_ms`` afterwards."""
        return cls(best_ms / step_ms, worst_ms / step_ms, None if likely_ms is None else likely_ms / step_ms)

    @classmethod
    def faster(cls, low: float, high: float) -> Left:
        """Return what is left of what gets from ``low`` to ``high`` times as fast, in either order."""
        return cls(1 / max(low, high), 1 / min(low, high))


#: Nothing of the part is left.
NOTHING = Left(0.0, 0.0)
