"""What a step takes without the garbage collections that a line of its own asks for.

What Python collects by itself is left, and the rest of the step. In that compiled calls are quicker than they were: a
full collection goes through all objects of the process, behind it caches are cold and the kernels' threads sleep. That
costs a few milliseconds, by how much was gone through, and no more than a part of the calls.
"""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.gain import Range, from_shares, interval
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.calibration import step as calibrated


def shares(share: float, samples: int) -> tuple[float, float]:
    """The least and the most that collections have of a step. Where each was timed (``samples`` 0) only the rest of the
    step has the sampler's cost in it: none can be taken within a collection."""
    if samples:
        return interval(share, samples)
    return share, share + calibration.WINDOW_ERROR.value * (1 - share)


def as_broken_down(share: float, of_step: tuple[float, float], broken_down: float) -> tuple[float, tuple[float, float]]:
    """The share to tell, and the least and the most that it is. The breakdown of the step has these collections too,
    counted in other steps' time: where both agree, each with its error, its figure counts, and the range has both."""
    if abs(share - broken_down) > 2 * calibration.WINDOW_ERROR.value:
        return share, of_step
    agreed = min(broken_down, shared.MAX_STEP_SHARE.value)
    return agreed, (min(of_step[0], agreed), max(of_step[1], agreed))


def without_collections(collecting: tuple[float, float], graph: float) -> Range:
    """The gain of a step without them. ``collecting``: their share of a step, from and to; ``graph``: that of compiled
    calls."""
    lower, upper = min(collecting), max(collecting)
    colder = min(calibrated.AFTER_COLLECTING_MIN.value * lower, calibrated.COLD_CALLS_MIN.value * min(graph, 1 - lower))
    coldest = min(
        calibrated.AFTER_COLLECTING_MAX.value * upper, calibrated.COLD_CALLS_MAX.value * min(graph, 1 - upper)
    )
    low, high = lower * (1 - calibrated.OWN_COLLECTIONS.value) + colder, upper + coldest
    return from_shares(low, min(high, shared.MAX_STEP_SHARE.value))
