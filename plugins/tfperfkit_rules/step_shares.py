"""What the person's lines cost, in shares of the step: the trace tells the parts, the samples divide them by line.

Samples fall more often where the interpreter is let go of, as in a compiled function. So within one part of the step
they tell which line it was; how large the part is the trace knows better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tfperfkit.evidence import Evidence
from tfperfkit.model import SourceSpan
from tfperfkit.samples import LEAST, Place
from tfperfkit_rules.eager_source import enclosing, loops

#: A part is not taken for larger than this many times what the samples say.
MOST = 2.0


class LineShare(NamedTuple):
    """A line of the person's, the samples of the part that have it innermost, and its share of the step."""

    place: Place
    samples: int
    share: float


def line_shares(evidence: Evidence, activities: tuple[str, ...], parts: tuple[str, ...]) -> list[LineShare]:
    """The innermost lines of these activities, the costliest first; ``parts`` are those of the account that the
    activities make up."""
    samples = evidence.samples
    if samples.count < LEAST or evidence.account is None:
        return []
    found = {
        leaf: sum(samples.doing_innermost(leaf)[word] for word in activities) for leaf in samples.leaves()
    }
    found = {leaf: count for leaf, count in found.items() if count}
    every = sum(samples.activities[word] for word in activities)
    if not every:
        return []
    sampled = every / samples.count
    # The trace's Python includes what samples hardly see, TensorFlow's own: so it counts for twice the samples at most.
    whole = min(evidence.share(*parts), MOST * sampled) if window(evidence) == "breakdown" else sampled
    rows = [LineShare(leaf, count, whole * count / every) for leaf, count in found.items()]
    return sorted(rows, key=lambda row: -row.share)


def window(evidence: Evidence) -> str:
    """Where these shares were measured: the account's breakdown if the trace told how large the part is, else the
    samples alone."""
    return "breakdown" if evidence.account is not None and "tfprof" in evidence.account.windows else "samples"


def text_of(evidence: Evidence, place: Place) -> str:
    """A line without its comment."""
    return evidence.line(*place).partition("#")[0].strip()


def span(evidence: Evidence, file: str, line: int) -> SourceSpan:
    """A line with the name of the function around it."""
    function = enclosing(evidence, file, line)
    return SourceSpan(file, line, function.name if function else "")


def callers(evidence: Evidence, place: Place) -> tuple[SourceSpan, ...]:
    """The lines on whose way a line was nearly always reached, the nearest first; at most two, other functions'."""
    own = enclosing(evidence, *place)
    above = [
        other for other in evidence.samples.places()
        if other != place and evidence.samples.within(place, other) >= 0.9 and enclosing(evidence, *other) != own
        and evidence.line(*other)
    ]
    above.sort(key=lambda other: evidence.samples.share(other))
    return tuple(span(evidence, *other) for other in above[:2])


def heaviest_loop(evidence: Evidence, rows: list[LineShare], keep: Callable[[LineShare], bool]) -> SourceSpan | None:
    """The innermost loop that holds 70 % of these lines' time; None without one."""
    rows = [row for row in rows if keep(row)]
    whole = sum(row.share for row in rows)
    found: dict[tuple[str, int], float] = {}
    length: dict[tuple[str, int], int] = {}
    for row in rows:
        for loop in loops(evidence, *row.place):
            key = (row.place[0], loop.line)
            found[key] = found.get(key, 0.0) + row.share
            length[key] = loop.last - loop.line
    wide = [key for key, share in found.items() if share >= 0.7 * whole]
    if not wide:
        return None
    return span(evidence, *min(wide, key=lambda key: length[key]))
