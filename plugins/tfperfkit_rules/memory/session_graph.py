"""MEM002, for sessions of TensorFlow 1: operations are added to a session's graph between its runs.

Operations are counted at the session's runs, and stack samples give the time in creating and running them. The gain
leaves out the creation and the optimisation of the growing graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit import calibration, gain
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.session_calls import (
    Growing,
    growing,
    is_in_session,
    made_in_loops,
    makes,
    runs_session,
    sessions_anew,
)
from tfperfkit_rules.measures.source_text import find_loop, find_loops

MIN_RUN_SHARE = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the run at a line that adds operations to a session's graph",
    Derived("XProf's moderate share of one part of a step"),
)
GRAPH_SAVED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of the line's time that is saved if it makes no operation",
    Chosen("the line also runs what it makes"),
)

_SESSION = ("tensorflow.Session", "tensorflow.InteractiveSession")


class _Price(NamedTuple):
    """Shares of the samples: of making operations, of it what surely is nothing else, and of running the session;
    ``places`` of the first."""

    making: float
    only_making: float
    running: float
    places: tuple[SourceSpan, ...]


def session_graph(evidence: Evidence) -> Iterator[Finding]:
    """MEM002: a loop around ``session.run`` makes operations, so the graph is extended and optimised again each time.

    The operations of the graph are counted at its runs; with too few runs, the lines of the loop decide. Scripts of
    TensorFlow 1 show no steps, so the cost is a share of the run, by its stack samples.
    """
    samples = evidence.samples
    if (evidence.steps.count and evidence.work is None) or samples.count < MIN:
        return
    if sessions_anew(evidence) is not None:
        return  # each has its own graph, or makes nothing: EAG009 tells
    counted = growing(evidence)
    priced: list[tuple[_Price, Growing | None]]
    if counted is None:
        by_lines = _by_lines(evidence)
        priced = [(by_lines, None)] if by_lines is not None else []
    else:
        priced = [(_around(evidence, each), each) for each in counted]
    priced.sort(key=lambda item: -item[0].making - item[0].running)
    for taken, grown in priced[:1]:
        if taken.places and taken.making + taken.running >= MIN_RUN_SHARE.value:
            yield _make_finding(evidence, taken, grown)


def _make_finding(evidence: Evidence, taken: _Price, grown: Growing | None) -> Finding:
    whole = evidence.work is None
    part = _share_sampled(evidence) if whole else 1.0
    share = part * min(taken.making + taken.running, 1.0)
    certain = taken.only_making + GRAPH_SAVED_MIN.value * (taken.making - taken.only_making)
    if grown is not None:  # the graph of the first runs was extended and optimised too, but it was small
        certain += taken.running * (1 - grown.left)
    certain *= part
    high = gain.interval(share, evidence.samples.count)[1]
    figures = []
    if grown is not None:
        figures = [
            Measurement("operations added per session.run", grown.added, "number", "run"),
            Measurement("operations in the graph at the end", grown.operations, "count", "run"),
        ]
    return Finding(
        code="MEM002",
        remedy=Hoist("operations"),
        basis="run" if whole else "step",
        share_of_step=share,
        title="Graph grows because every iteration adds operations to the session",
        gain=price(Hoist("operations"), Part(min(certain, high), high)),
        where=taken.places[: shared.MAX_PLACES.value],
        evidence=(
            *figures,
            Measurement(f"share of the {'run' if whole else 'loop'} in the growing graph", share, "share", "samples"),
            Measurement("samples", evidence.samples.count, "count", "run"),
        ),
        advice=(
            "Create the operation once, before the loop, with a placeholder for what changes, and only run it in the "
            "loop: session.run(op, {placeholder: value}). graph.finalize() then raises at the line that adds one."
        ),
        detail="After each change the session extends and optimises its whole graph again.",
        absorbs=("STP007",),  # that is why
        absorbs_here=("LIN001",),
    )


def _share_sampled(evidence: Evidence) -> float:
    """Return the share of the run in which samples were taken: not while TensorFlow was imported, for example."""
    taken = evidence.log.inside(evidence.log.whole)
    wall_ns = evidence.run.wall_s * NS_PER_S
    return min((taken[-1][0] - taken[0][0]) / wall_ns, 1.0) if len(taken) > 1 and wall_ns > 0 else 1.0


def _around(evidence: Evidence, grown: Growing) -> _Price:
    """The samples in the loop around a run of the session: at the lines of the loop by which operations are made, in
    helpers too, and in ``session.run``."""
    if not grown.site.loops:
        return _Price(0.0, 0.0, 0.0, ())
    file, line = grown.site.loops[-1].file, grown.site.loops[-1].line
    loop = find_loop(evidence, file, line)
    last = loop.last if loop is not None else line
    in_loop: Counter[Place] = Counter()
    made_at: Counter[Place] = Counter()
    making = running = 0
    for stack, count in evidence.samples.stacks.items():
        places = [(each.file, each.line) for each in stack.frames if each.file == file and line <= each.line <= last]
        if not places:
            continue
        leaf = stack.frames[-1]
        if makes(leaf):
            making += count
            in_loop[places[-1]] += count
            made_at[leaf.file, leaf.line] += count
        elif _innermost(evidence, places[-1]) == line and any(runs_session(evidence, each) for each in stack.frames):
            running += count
    first, others = in_loop.most_common(1), made_at.most_common()
    at = [*(place for place, _ in first), (grown.site.file, grown.site.line), *(place for place, _ in others)]
    total = evidence.samples.count
    where = tuple(SourceSpan(*place) for place in dict.fromkeys(at))
    return _Price(making / total, making / total, running / total, where)


def _by_lines(evidence: Evidence) -> _Price | None:
    """The line in a loop that makes operations and takes most, and ``session.run`` in that loop, there and in what it
    calls."""
    samples = evidence.samples
    found = []
    for file in sorted({span.file for span in evidence.calls(*_SESSION)}):
        for line in made_in_loops(evidence, file):
            share = samples.share((file, line))
            if share >= MIN_RUN_SHARE.value:
                found.append((share, SourceSpan(file, line)))
    if not found:
        return None
    found.sort(key=lambda item: -item[0])
    _, where = found[0]
    around = find_loops(evidence, where.file, where.line)[-1]
    making = only_making = running = 0
    for stack, count in samples.stacks.items():
        here = [each for each in stack.frames if each.file == where.file and around.line <= each.line <= around.last]
        if not here:
            continue
        at_line = any(frame.line == where.line for frame in here)  # which may do both
        if any(is_in_session(frame) if at_line else runs_session(evidence, frame) for frame in stack.frames):
            running += count
        elif makes(stack.frames[-1]):
            only_making += count
        elif at_line:
            making += count
    total = samples.count
    places = tuple(span for _, span in found)
    return _Price((making + only_making) / total, only_making / total, running / total, places)


def _innermost(evidence: Evidence, place: Place) -> int:
    """The line of the innermost loop around a line: only the first run after an addition pays for it."""
    around = find_loops(evidence, *place)
    return around[-1].line if around else 0
