"""The seconds that a finding costs, and that its remedy takes off this run, from its gain.

A gain is of the step, the iteration or the run that its finding is about. Its seconds are that share of their time. In
the run more goes with it, which ``Finding.elsewhere`` names: a smaller graph is traced sooner, and when the run is over
TensorFlow waits for iterators for as long as they have lived at most. All other tracing of the first iterations stays,
unless the remedy is about tracing. A function that the remedy compiles is traced once, which the run pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from tfperfkit import gain
from tfperfkit.clock import MS_PER_S
from tfperfkit.gain import AtLeast
from tfperfkit.model import Elsewhere, Family, Finding
from tfperfkit.pricing.bounds import Bounds

#: Families whose findings are about tracing itself, that of the first steps too.
_OF_TRACING: tuple[Family, ...] = ("retrace", "compile")
#: Less than this many seconds is not said of other parts of the run.
_MIN_S = 0.1
Seconds = tuple[float, float]


class RunTime(NamedTuple):
    """The time of the run that a finding's share is of, in seconds. ``steps_s``: all of it. ``first_s``: of it the
    tracing that the first iterations pay. ``waited_s``: until iterators are destroyed. ``wall_s``: the whole run.
    ``owned_s``: what the finding's call sites took (``ledger.ownership``); None if they are not known. ``samples``: how
    many the finding's share rests on, 0 if unknown. ``quiet``: the share (0 to 1) of these seconds that a quiet machine
    takes at least."""

    steps_s: float
    wall_s: float
    first_s: float = 0.0
    waited_s: float = 0.0
    owned_s: float | None = None
    samples: int = 0
    quiet: float = 1.0


def price_for_run(item: Finding, time: RunTime, others: Iterable[Elsewhere] = ()) -> Finding:
    """Return a finding with what it costs and saves of the run, in seconds and as shares; both ends of what it saves
    are known, or neither is. ``others``: what the same remedy saves in other works."""
    if item.basis == "risk" or time.wall_s <= 0:
        return msgspec.structs.replace(item, elsewhere=())
    first_s = 0.0 if item.family in _OF_TRACING or item.basis == "run" else time.first_s
    of_s = max(time.steps_s - first_s, 0.0)
    share = min(item.share_of_step * of_s / time.wall_s, 1.0) if of_s else None
    costs_s = share * time.wall_s if share is not None else None
    costs_range_s = None
    if costs_s is not None and time.samples:
        low, high = (end * of_s for end in gain.interval(min(item.share_of_step, 1.0), time.samples))
        costs_range_s = min(low, costs_s), max(min(high, time.wall_s), costs_s)
    priced = msgspec.structs.replace(
        item, share_of_run=share, costs_s=costs_s, costs_range_s=costs_range_s, elsewhere=()
    )
    own = saved_seconds(item, of_s)
    if own is None:
        return priced
    if isinstance(item.gain, AtLeast):
        upper = costs_s if time.owned_s is None else time.owned_s
        own = own[0], max(own[0], upper or 0.0)
    every = (*item.elsewhere, *others, *_list_followed(item, of_s, first_s, time.waited_s))
    told = tuple(_slow_down(each, time.quiet) for each in every if max(map(abs, each.seconds)) >= _MIN_S)
    least = own[0] * time.quiet + sum(each.seconds[0] for each in told)
    most = own[1] + sum(each.seconds[1] for each in told)
    saves_s = min(max(least, 0.0), time.wall_s), min(max(most, 0.0), time.wall_s)
    return msgspec.structs.replace(
        priced,
        saves_s=saves_s,
        saves_share=(saves_s[0] / time.wall_s, saves_s[1] / time.wall_s),
        elsewhere=told,
        detail="\n".join(filter(None, (item.detail, *_describe(told)))),
    )


def pay_once(cost: Bounds, what: str) -> Elsewhere:
    """Return the ``cost`` (ms) that the run pays once after a remedy, and that no gain of a step has."""
    return Elsewhere(seconds=(-cost.upper / MS_PER_S, -cost.lower / MS_PER_S), where=what)


def saved_seconds(item: Finding, of_s: float) -> Seconds | None:
    """Return the seconds, from and to, that the finding saves of ``of_s``, the time in which its cause ran; None if
    nothing is predicted. A gain without an upper end has its lower end twice."""
    low = item.gain.low
    if of_s <= 0 or low is None:
        return None
    high = low if item.gain.high is None else item.gain.high
    return (of_s * gain.saving(low), of_s * gain.saving(high)) if high > 1 else None


def _list_followed(item: Finding, of_s: float, first_s: float, waited_s: float) -> Iterator[Elsewhere]:
    """Yield the seconds that follow from a gain of what ran for ``of_s``: of tracing, and of waits for iterators."""
    low = item.gain.low or 1.0
    high = item.gain.high or low
    if item.family == "graph":
        # A graph with less in it is traced sooner: at most in proportion.
        yield Elsewhere(seconds=(0.0, first_s * gain.saving(high)), where="tracing, which a smaller graph shortens")
    least, most = saved_wait(waited_s, of_s, low)[0], saved_wait(waited_s, of_s, high)[1]
    if item.family == "input":
        # The threads that iterators wait for are the pipeline's. Their wait went nearly whole with its cause: 5.7 to 0,
        # 27 to 0.8 and 5.1 to 0 s in three pairs of runs.
        least, most = saved_wait(waited_s, of_s, low)[1], waited_s
    yield Elsewhere(seconds=(least, most), where="the wait until iterators are destroyed")


def _slow_down(other: Elsewhere, quiet: float) -> Elsewhere:
    """Return what a quiet machine saves elsewhere, where all takes the share ``quiet`` of its time at least."""
    return msgspec.structs.replace(other, seconds=(other.seconds[0] * quiet, other.seconds[1]))


def _describe(told: Iterable[Elsewhere]) -> Iterator[str]:
    """Yield sentences on the seconds that are saved elsewhere, and on those that the run pays after the change."""
    saved, added = [], []
    for each in told:
        low, high = sorted(each.seconds)
        if high > 0:
            saved.append(f"{_span((low, high))} s of {each.where}")
        else:
            added.append(f"{_span((-high, -low))} s of {each.where}")
    if saved:
        yield f"The seconds count what the same change saves elsewhere: {'; '.join(saved)}."
    if added:
        yield f"The seconds leave out what the run still pays once after the change: {'; '.join(added)}."


def _span(seconds: Seconds) -> str:
    low, high = (f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}" for value in seconds)
    return f"up to {high}" if seconds[0] < _MIN_S else low if low == high else f"{low} to {high}"


def saved_wait(waited_s: float, of_s: float, factor: float) -> Seconds:
    """Return the seconds of ``waited_s`` that are saved if the iterators live ``factor`` times shorter than ``of_s``.

    TensorFlow destroys an iterator when its threads have ended. One of them sleeps twice as long each time, and is
    sometimes not woken, so the wait is at most as long as the iterator has lived, and on average proportional to that.
    The first figure is the least: each wait is then as long as it can be. The second one is in proportion.
    """
    proportional = waited_s * gain.saving(factor)
    return min(max(0.0, waited_s - of_s / factor), proportional), proportional
