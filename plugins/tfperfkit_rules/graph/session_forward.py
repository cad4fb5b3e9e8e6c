"""GRF001 of scripts of TensorFlow 1: an iteration runs its session several times, with one feed, for what one run
gives."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.clock import ms
from tfperfkit.gain import MEDIUM
from tfperfkit.graph.sessions import Fetch, SessionRuns
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.repeated_forward import REPEATED_SAVED_MIN
from tfperfkit_rules.measures.called import is_calling
from tfperfkit_rules.measures.session_calls import MIN_SESSION_RUNS, SESSION, growing
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import span


class _Run(NamedTuple):
    """``shared``: the share of its work that the longest one of the runs does too; 1 for that one itself."""

    fetch: Fetch
    times: tuple[float, ...]
    shared: float

    @property
    def place(self) -> Place:
        return self.fetch.asked.file, self.fetch.asked.line


def session_forward(evidence: Evidence) -> Iterator[Finding]:
    """Runs with the same values one after the other, of which each could be part of the longest."""
    sessions = evidence.offer(SessionRuns)
    if sessions is None or evidence.work is None or evidence.samples.count < MIN or growing(evidence):
        return
    clock = _Clock(evidence)
    for together in sessions.together:
        timed = [(fetch, clock.times(fetch.begins)) for fetch in together.fetches]
        timed = [(fetch, times) for fetch, times in timed if times]
        if not timed:
            continue
        longest = max(timed, key=lambda item: sum(item[1]) / len(item[1]))[0]
        runs = [
            _Run(fetch, times, 1.0 if fetch is longest else together.share(fetch, longest)) for fetch, times in timed
        ]
        runs = [run for run in runs if run.shared > 0]
        # A run that updates weights comes once for all: what others fetch may be from before that, or behind it.
        trained = sum(bool(run.fetch.writes) for run in runs)
        if len(runs) > 1 and trained <= 1 and sum(len(run.times) for run in runs) >= MIN_SESSION_RUNS.value:
            yield from _make_finding(evidence, runs, next(run for run in runs if run.fetch is longest), clock)


class _Clock:
    """How long runs of sessions took, by the moment at which they asked TensorFlow."""

    def __init__(self, evidence: Evidence) -> None:
        places = {site.id: (site.file, site.line) for site in sites(evidence) if site.kind == "session"}
        markers = [marker for marker in evidence.markers() if marker.site in places]
        self._spans = sorted((marker.begin_ns, marker.end_ns, places[marker.site]) for marker in markers)
        self._begins = [begin for begin, _, _ in self._spans]

    def times(self, moments: tuple[int, ...]) -> tuple[float, ...]:
        """Milliseconds of each call in which one of these moments is; a moment in no call is left out."""
        found = []
        for moment in moments:
            at = bisect_right(self._begins, moment) - 1
            if at >= 0 and moment <= self._spans[at][1]:
                found.append(ms(self._spans[at][1] - self._spans[at][0]))
        return tuple(found)

    def total(self, places: set[Place], first: int, last: int) -> float:
        """Milliseconds of all calls at these places, from one moment to another."""
        return sum(
            ms(end - begin) for begin, end, place in self._spans if place in places and first <= end and begin <= last
        )


def _make_finding(evidence: Evidence, runs: list[_Run], longest: _Run, clock: _Clock) -> Iterator[Finding]:
    places = {run.place for run in runs}
    seen = sum(
        count
        for stack, count in evidence.samples.stacks.items()
        if stack.frames
        and (stack.frames[-1].file, stack.frames[-1].line) in places
        and is_calling(evidence, stack.frames[-1], SESSION)
    )
    share = seen / evidence.samples.count
    whole = clock.total(places, min(run.fetch.begins[0] for run in runs), max(run.fetch.begins[-1] for run in runs))
    again = sum(run.shared * sum(run.times) for run in runs if run is not longest)
    saved = share * again / whole if whole > 0 else 0.0
    if REPEATED_SAVED_MIN.value * saved < MEDIUM:
        return
    gained = price(ReplaceOps("one_pass"), Part(REPEATED_SAVED_MIN.value * saved, saved))
    trains = any(run.fetch.writes for run in runs)
    yield Finding(
        code="GRF001",
        remedy=ReplaceOps("one_pass"),
        title=f"session.run called {len(runs)} times with one feed for the same network",
        share_of_step=saved,
        gain=gained,
        where=tuple(span(evidence, *place) for place in sorted(places)),
        evidence=(
            Measurement("share of time in these calls", share, "share", "samples"),
            Measurement("time of the longest call", statistics.median(longest.times), "ms", "run"),
            Measurement("time of one call of each", sum(statistics.median(run.times) for run in runs), "ms", "run"),
        ),
        advice="Fetch everything in one call, which runs the network once: a, b = session.run([a_tensor, b_tensor], "
        "feed_dict={...}).",
        detail="Each call computes everything that its fetches need and keeps nothing."
        + (" Fetched together with the update, values may belong to the weights before or after it." if trains else ""),
        absorbs_here=("LIN001", "EAG012"),
        parts=("graph", "dispatch"),
    )
