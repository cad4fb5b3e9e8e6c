"""The part of a step that lines take: stack samples say where, the step's account how much.

A sample is taken when the sampler gets the interpreter's lock, so it falls on compiled functions, which give the lock
up, more often than on Python and C code that hold it: loading JSON was 54 % of the samples and 71 % of the step by the
trace. The account's parts are right about that; the samples divide each part among the lines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from tfperfkit import gain
from tfperfkit.calibration import WINDOW_ERROR, Measured, Threshold
from tfperfkit.model import SourceSpan
from tfperfkit.offers import LineCosts
from tfperfkit.pricing import Part
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.parts import Activity, PartName
from tfperfkit.records.samples import MIN, Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.by_hand import collected_by_hand
from tfperfkit_rules.measures.source_text import find_function, find_loops

SAMPLED_MAX = Threshold(
    2.0,
    "number",
    "maximum ratio of a part of the account to what samples say of its lines",
    Measured(
        "loading JSON was 54 % of the samples and 71 % of the step by the trace; TensorFlow's own Python differs more",
        TWO_BUSY_CORES,
        1,
    ),
)

#: Activities of samples, and the parts of the account that they make up. While TensorFlow dispatches operations a
#: sample falls on either: the two are one.
_PARTS: tuple[tuple[tuple[Activity, ...], tuple[PartName, ...]], ...] = (
    (("eager_ops", "dispatch"), ("eager_ops", "dispatch")),
    (("graph",), ("graph", "copies", "collectives")),
    (("saving", "summary"), ("saving",)),
    (("python",), ("python",)),
    (("host_sync",), ("host_sync",)),
    (("input",), ("input",)),
    (("tracing",), ("tracing",)),
)
#: Activities that garbage collections interrupt.
_COLLECTED = ("python", "dispatch")
#: A part that holds no activity of its own: freeing arrays, on top of the Python that made them.
_FREEING: PartName = "other"


class LineShare(NamedTuple):
    """A line of the user's, its samples of the activities asked for, and its share of the step."""

    place: Place
    samples: int
    share: float


def share_of(evidence: Evidence, doing: Mapping[str, int]) -> float:
    """The share of the mean step (0 to 1) of samples, counted by activity."""
    return _share(evidence, doing, SAMPLED_MAX.value)


def _share(evidence: Evidence, doing: Mapping[str, int], upper: float) -> float:
    samples = evidence.samples
    if not samples.count:
        return 0.0
    known = evidence.account.parts_ms if evidence.account is not None else {}
    left = sum(doing.values())
    total = 0.0
    for activities, parts in _PARTS:
        count = sum(doing.get(word, 0) for word in activities)
        if count and any(part in known for part in parts):
            every = sum(samples.activities[word] for word in activities)
            whole = evidence.share(*parts) + _collecting(evidence, activities)
            total += min(whole, upper * every / samples.count) * count / every
            left -= count
    return min(total + left / samples.count, 1.0)


def _collecting(evidence: Evidence, activities: tuple[str, ...]) -> float:
    """The share of garbage collections in these activities: a part of its own in the account, which they interrupt."""
    known = {word: evidence.samples.activities[word] for word in _COLLECTED}
    mine = sum(known.get(word, 0) for word in activities)
    asked = collected_by_hand(evidence).share  # these are separated
    return max(evidence.share("gc") - asked, 0.0) * mine / sum(known.values()) if mine else 0.0


def window(evidence: Evidence) -> str:
    """Name the window of these shares: the samples alone if the account has no parts."""
    return "breakdown" if evidence.account is not None and evidence.account.parts_ms else "samples"


def interval(evidence: Evidence, doing: Mapping[str, int]) -> tuple[float, float]:
    """(least, most) of ``share_of``. At most it has all that the trace says, with the samples' 95 % interval, and what
    its lines leave behind. At least the trace and the samples are each half right: the trace's own steps are slower.
    """
    samples, traced = evidence.samples, _share(evidence, doing, math.inf)
    raw = min(sum(doing.values()) / max(samples.count, 1), 1.0)
    lower, _ = gain.interval(min((raw + traced) / 2, traced), samples.count)
    _, upper = gain.interval(max(traced, raw), samples.count)
    python = samples.activities["python"]
    left = doing.get("python", 0) / python * evidence.share(_FREEING) if python else 0.0
    return lower, min(upper + left, 1.0)


def find_part(evidence: Evidence, doing: Mapping[str, int], places: Collection[Place]) -> Part:
    """Return the part of the step in lines whose samples are ``doing``: ``interval``; if the lines were timed in every
    call too, between the share by samples and the timed one.

    Code that holds the interpreter's lock is sampled too rarely, and exact times are of few steps: each may be wrong.
    """
    lower, upper = interval(evidence, doing)
    timed = find_timed_share(evidence, places)
    if timed is None:
        return Part(lower, upper)
    sampled = share_of(evidence, doing)
    error = WINDOW_ERROR.value
    return Part(max(min(sampled, timed) - error, lower), min(max(timed + error, upper), 1.0), timed)


def find_timed_share(evidence: Evidence, places: Collection[Place]) -> float | None:
    """Return the share of the training step (0 to 1) in lines by their exact times; None if one was not timed, or if it
    calls user code, whose time is in that of the line."""
    costs = evidence.offer(LineCosts)
    if costs is None or not evidence.step_ms:
        return None
    timed = {(row.file, row.line): row.ms_per_step for row in costs.rows if not row.compiled}
    outer = {(frame.file, frame.line) for stack in evidence.samples.stacks for frame in stack.frames[:-1]}
    if not places or not all(place in timed and place not in outer for place in places):
        return None
    # A line around the step holds all of it.
    whole = max(*timed.values(), evidence.step_ms)
    return min(sum(timed[place] for place in places) / whole, 1.0)


def innermost(stack: Stack) -> Place | None:
    """The innermost line of the user's."""
    return (stack.frames[-1].file, stack.frames[-1].line) if stack.frames else None


def line_shares(
    evidence: Evidence, activities: tuple[str, ...], at: Callable[[Stack], Place | None] = innermost
) -> list[LineShare]:
    """Return the shares of the step that lines take with these activities, the costliest first. ``at``: the line that a
    sample counts for, if any."""
    samples = evidence.samples
    if samples.count < MIN or evidence.account is None:
        return []
    found: dict[Place, Counter[str]] = {}
    for stack, count in samples.stacks.items():
        place = at(stack) if stack.activity in activities else None
        if place is not None:
            found.setdefault(place, Counter())[stack.activity] += count
    rows = [LineShare(place, doing.total(), share_of(evidence, doing)) for place, doing in found.items()]
    return sorted(rows, key=lambda row: (-row.share, -row.samples))


def text_of(evidence: Evidence, place: Place) -> str:
    """Return a line without its comment."""
    return evidence.line(*place).partition("#")[0].strip()


def span(evidence: Evidence, file: str, line: int) -> SourceSpan:
    """Return a line with the name of the function around it."""
    function = find_function(evidence, file, line)
    return SourceSpan(file, line, function.name if function else "")


def callers(evidence: Evidence, place: Place) -> tuple[SourceSpan, ...]:
    """The lines on whose way a line was nearly always reached, the nearest first; at most two, other functions'."""
    own = find_function(evidence, *place)
    above = [
        other
        for other in evidence.samples.places()
        if other != place
        and evidence.samples.within(place, other) >= shared.NEARLY_ALWAYS.value
        and find_function(evidence, *other) != own
        and evidence.line(*other)
    ]
    above.sort(key=lambda other: evidence.samples.share(other))
    return tuple(span(evidence, *other) for other in above[:2])


def heaviest_loop(evidence: Evidence, rows: list[LineShare], keep: Callable[[LineShare], bool]) -> SourceSpan | None:
    """The innermost loop that holds most of these lines' time; None without one."""
    rows = [row for row in rows if keep(row)]
    whole = sum(row.share for row in rows)
    found: dict[tuple[str, int], float] = {}
    length: dict[tuple[str, int], int] = {}
    for row in rows:
        for loop in find_loops(evidence, *row.place):
            key = (row.place[0], loop.line)
            found[key] = found.get(key, 0.0) + row.share
            length[key] = loop.last - loop.line
    wide = [key for key, share in found.items() if share >= shared.LOOP_SHARE.value * whole]
    if not wide:
        return None
    return span(evidence, *min(wide, key=lambda key: length[key]))
