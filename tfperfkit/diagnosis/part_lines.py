"""The lines of the person's on whose behalf a part of an account ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tfperfkit.model import SourceSpan
from tfperfkit.records.parts import PartName, part_of
from tfperfkit.records.samples import Stack
from tfperfkit.rule import Evidence

#: So many are reported.
LINES = 3


def lines_of(evidence: Evidence, part: PartName) -> list[SourceSpan]:
    """The innermost lines of the person's on whose behalf it ran, the costliest first."""
    at: Counter[tuple[str, int, str]] = Counter()
    for stack, count in _timed(evidence, part) if part in ("gc", "tracing") else evidence.samples.stacks.items():
        if stack.frames and (part == "gc" or is_of(part, stack.activity, stack.context)):
            leaf = stack.frames[-1]
            at[leaf.file, leaf.line, "" if leaf.name.startswith("<") else leaf.name] += count
    return [SourceSpan(*place) for place, _ in at.most_common(LINES)]


def _timed(evidence: Evidence, part: PartName) -> Iterator[tuple[Stack, int]]:
    """Stacks with the ns of collections, or of tracing, that ended at them: these were timed one by one, also where
    samples are few. A collection keeps the interpreter to itself: the sample behind it sees the line that it
    interrupted."""
    log, spans = evidence.log, evidence.collections if part == "gc" else evidence.tracing
    taken = log.inside(log.whole)
    for (before, _), (when, stack) in zip(taken, taken[1:], strict=False):
        if took := spans.overlap(before, when):
            yield stack, took


def is_of(part: PartName, activity: str, context: str) -> bool:
    """Whether a sample counts for a part of the account."""
    if part == "evaluate":
        return context == "evaluate"
    if part == "gc":  # it interrupts what makes objects
        return activity in ("python", "dispatch")
    return part_of(activity) == part or (part == "other" and activity == "waiting")
