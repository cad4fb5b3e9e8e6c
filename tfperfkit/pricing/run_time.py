"""The seconds that a finding costs, and that its remedy takes off this run, from its gain.

A gain is of the step, the iteration or the run that its finding is about. In the run that time comes with more: the
first iterations trace and compile, which a remedy leaves as it is unless it is about tracing, and when the run is over
TensorFlow waits for iterators for as long as they have lived at most.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from tfperfkit import gain
from tfperfkit.gain import AtLeast
from tfperfkit.model import Family, Finding

#: Families whose findings are about tracing itself, that of the first steps too.
_OF_TRACING: tuple[Family, ...] = ("retrace", "compile")
Seconds = tuple[float, float]


class RunTime(NamedTuple):
    """The time of the run that a finding's share is of, in seconds. ``steps_s``: all of it. ``first_s``: of it the
    tracing that the first iterations pay. ``waited_s``: until iterators are destroyed. ``wall_s``: the whole run.
    ``owned_s``: what the finding's call sites took (``ledger.ownership``); None if they are not known. ``samples``: how
    many the finding's share rests on, 0 if unknown."""

    steps_s: float
    wall_s: float
    first_s: float = 0.0
    waited_s: float = 0.0
    owned_s: float | None = None
    samples: int = 0


def price_for_run(item: Finding, time: RunTime) -> Finding:
    """Return a finding with what it costs and saves of the run, in seconds and as shares; both ends of what it saves
    are known, or neither is."""
    if item.basis == "risk" or time.wall_s <= 0:
        return item
    first_s = 0.0 if item.family in _OF_TRACING or item.basis == "run" else time.first_s
    of_s = max(time.steps_s - first_s, 0.0)
    share = min(item.share_of_step * of_s / time.wall_s, 1.0) if of_s else None
    costs_s = share * time.wall_s if share is not None else None
    saves_s = saved_seconds(item, of_s, time.waited_s)
    if saves_s is not None and isinstance(item.gain, AtLeast):
        upper = costs_s if time.owned_s is None else time.owned_s
        saves_s = saves_s[0], max(saves_s[0], upper or 0.0)
    elif saves_s is not None and item.family == "graph":
        # A graph with less in it is traced sooner: at most in proportion.
        saves_s = saves_s[0], saves_s[1] + first_s * gain.saving(item.gain.high or 1.0)
    if saves_s is not None:
        saves_s = min(saves_s[0], time.wall_s), min(saves_s[1], time.wall_s)
    costs_range_s = None
    if costs_s is not None and time.samples:
        low, high = (end * of_s for end in gain.interval(min(item.share_of_step, 1.0), time.samples))
        costs_range_s = min(low, costs_s), max(min(high, time.wall_s), costs_s)
    return msgspec.structs.replace(
        item, share_of_run=share, costs_s=costs_s, costs_range_s=costs_range_s, saves_s=saves_s
    )


def saved_seconds(item: Finding, of_s: float, waited_s: float = 0.0) -> Seconds | None:
    """Return the seconds, from and to, that the finding saves of ``of_s``, the time in which its cause ran; None if
    nothing is predicted. A gain without an upper end has its lower end twice."""
    low = item.gain.low
    if of_s <= 0 or low is None:
        return None
    high = low if item.gain.high is None else item.gain.high
    if high <= 1:
        return None
    least, most = saved_wait(waited_s, of_s, low)[0], saved_wait(waited_s, of_s, high)[1]
    if item.family == "input":
        # The threads that iterators wait for are the pipeline's. Their wait went nearly whole with its cause: 5.7 to 0,
        # 27 to 0.8 and 5.1 to 0 s in three pairs of runs.
        least, most = saved_wait(waited_s, of_s, low)[1], waited_s
    elif low == high:  # of one factor there is one figure
        least = most = least if isinstance(item.gain, AtLeast) else most
    return of_s * gain.saving(low) + least, of_s * gain.saving(high) + most


def add_share(item: Finding, wall_s: float) -> Finding:
    """Return a finding with what it saves as shares of the run."""
    if item.saves_s is None:
        return item
    low, high = (min(end / wall_s, 1.0) for end in item.saves_s)
    return msgspec.structs.replace(item, saves_share=(low, high))


def saved_wait(waited_s: float, of_s: float, factor: float) -> Seconds:
    """Return the seconds of ``waited_s`` that are saved if the iterators live ``factor`` times shorter than ``of_s``.

    TensorFlow destroys an iterator when its threads have ended. One of them sleeps twice as long each time, and is
    sometimes not woken, so the wait is at most as long as the iterator has lived, and on average proportional to that.
    The first figure is the least: each wait is then as long as it can be. The second one is in proportion.
    """
    proportional = waited_s * gain.saving(factor)
    return min(max(0.0, waited_s - of_s / factor), proportional), proportional
