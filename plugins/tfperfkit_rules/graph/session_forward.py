"""GRF001 of scripts of TensorFlow 1: a turn runs its session several times, with one feed, for what one run gives."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.clock import ms
from tfperfkit.gain import MEDIUM, from_shares, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.repeated_forward import REPEATED_SAVED_MIN
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import calls
from tfperfkit_rules.measures.session_calls import MIN_SESSION_RUNS, SESSION, growing
from tfperfkit_rules.measures.session_fetches import Fetches, fetches_at
from tfperfkit_rules.measures.source_text import enclosing, loops
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import span


class _Run(NamedTuple):
    place: Place
    fetches: Fetches
    times: int
    each_ms: float


def session_forward(evidence: Evidence) -> Iterator[Finding]:
    """Runs in one body, of which each could be part of the longest."""
    if evidence.work is None or evidence.samples.count < MIN or growing(evidence):
        return
    bodies: defaultdict[tuple[str, int], list[_Run]] = defaultdict(list)
    for run in _runs(evidence):
        file, line = run.place
        around, function = loops(evidence, file, line), enclosing(evidence, file, line)
        bodies[file, around[-1].line if around else -function.line if function is not None else 0].append(run)
    for runs in bodies.values():
        longest = max(runs, key=lambda run: run.each_ms)
        # A run that updates weights comes once for all: what others fetch may be from before that, or behind it.
        together = [run for run in runs if run is longest or run.fetches.shares(longest.fetches)]
        if len(together) > 1 and sum(run.fetches.trains for run in together) <= 1:
            yield from _finding(evidence, together, longest)


def _runs(evidence: Evidence) -> Iterator[_Run]:
    here: defaultdict[Place, set[int]] = defaultdict(set)
    for site in sites(evidence):
        if site.kind == "session":
            here[site.file, site.line].add(site.id)
    took: defaultdict[int, list[float]] = defaultdict(list)
    for item in evidence.markers():
        took[item.site].append(ms(item.end_ns - item.begin_ns))
    for place, ids in here.items():
        found = [each for site in ids for each in took[site]]
        fetches = fetches_at(evidence, place) if len(found) >= MIN_SESSION_RUNS.value else None
        if fetches is not None:
            yield _Run(place, fetches, len(found), statistics.median(found))


def _finding(evidence: Evidence, runs: list[_Run], longest: _Run) -> Iterator[Finding]:
    places = {run.place for run in runs}
    seen = sum(
        count
        for stack, count in evidence.samples.stacks.items()
        if stack.frames
        and (stack.frames[-1].file, stack.frames[-1].line) in places
        and calls(evidence, stack.frames[-1], SESSION)
    )
    share = seen / evidence.samples.count
    whole = sum(run.times * run.each_ms for run in runs)
    saved = share * (1 - longest.times * longest.each_ms / whole) if whole > 0 else 0.0
    if REPEATED_SAVED_MIN.value * saved < MEDIUM:
        return
    gained = from_shares(REPEATED_SAVED_MIN.value * saved, min(saved, shared.MAX_STEP_SHARE.value))
    ordered = sorted(runs, key=lambda run: run.place)
    trains = any(run.fetches.trains for run in runs)
    yield Finding(
        code=codes.REPEATED_FORWARD,
        family="graph",
        remedy=ReplaceOps("one_pass"),
        title=f"session.run is called {len(runs)} times with one feed, and each runs the same network",
        severity=severity(gained.surely),
        share_of_step=saved,
        gain=gained,
        where=tuple(span(evidence, *run.place) for run in ordered),
        evidence=(
            Measurement("time in these calls", share, "share", "samples"),
            Measurement("the longest of them", longest.each_ms, "ms", "run"),
            Measurement("one of each", sum(run.each_ms for run in runs), "ms", "run"),
        ),
        advice="Fetch all of it in one call, which runs the network once: a, b = session.run([a_tensor, b_tensor], "
        "feed_dict={...})."
        + (" What is fetched together with the update is of the weights before it, or behind it." if trains else ""),
        detail="Each call computes all that its fetches need, and keeps nothing of the call before.",
        absorbs_here=("LIN001", "EAG012"),
        parts=("graph", "dispatch"),
    )
