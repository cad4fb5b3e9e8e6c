"""The time of a step without the garbage collections that one of its own lines asks for.

Python's own collections are left, and the rest of the step. Its compiled calls get quicker: a full collection goes
through all objects of the process, after which caches are cold and the kernels' threads sleep. That costs a few
milliseconds, by the number of objects, and no more than a part of the calls.
"""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Measured, Threshold
from tfperfkit.gain import Range, interval
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Every
from tfperfkit_rules.measures import shared

OWN_COLLECTIONS = Threshold(
    0.01,
    "share",
    "maximum share of garbage collections by hand that Python's own take instead",
    Derived(
        "Python makes a full one when its objects have grown by a quarter: with a thousand new lasting ones per step, "
        "of 400,000, in each hundredth step. Measured over 60 steps of five kinds: 0.0000, none was full"
    ),
)
AFTER_COLLECTING_MIN = Threshold(
    0.011,
    "share",
    "minimum share of a full collection's time by which compiled calls after it take longer",
    Measured(
        "steps of a small network, train_on_batch and three matmuls took 4 to 13 ms longer after a collection of 390 "
        "to 500 ms (0.011 to 0.026 of its time), two blocks each; eager gradients and Python's lists -3 to 3 ms",
        TWO_BUSY_CORES,
        6,
    ),
)
AFTER_COLLECTING_MAX = Threshold(
    0.026,
    "share",
    "maximum share of a full collection's time by which compiled calls after it take longer",
    Measured("see AFTER_COLLECTING_MIN", TWO_BUSY_CORES, 6),
)
COLD_CALLS_MIN = Threshold(
    0.16,
    "share",
    "share of compiled calls that each follow a full collection: a lower bound for the most that is saved without it",
    Measured("see AFTER_COLLECTING_MIN: 0.16 to 0.66 of their time", TWO_BUSY_CORES, 6),
)
COLD_CALLS_MAX = Threshold(
    0.66,
    "share",
    "maximum share saved of compiled calls that each follow a full collection",
    Measured("see COLD_CALLS_MIN", TWO_BUSY_CORES, 6),
)


def shares(share: float, samples: int) -> tuple[float, float]:
    """The least and the most that collections have of a step.

    If each collection was timed (``samples`` 0), only the rest of the step includes the sampler's cost: no sample can
    be taken within a collection.
    """
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
    colder = min(AFTER_COLLECTING_MIN.value * lower, COLD_CALLS_MIN.value * min(graph, 1 - lower))
    coldest = min(AFTER_COLLECTING_MAX.value * upper, COLD_CALLS_MAX.value * min(graph, 1 - upper))
    low, high = lower * (1 - OWN_COLLECTIONS.value) + colder, upper + coldest
    return price(Every("collect"), Part(low, high))
