"""The lines of the user's code for which a part of an account ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tfperfkit.model import SourceSpan
from tfperfkit.records.parts import PartName, part_of
from tfperfkit.records.samples import Stack
from tfperfkit.rule import Evidence

#: At most this many lines are reported.
MAX_LINES = 3


def find_part_lines(evidence: Evidence, part: PartName) -> list[SourceSpan]:
    """Return the innermost lines of the user's code for which a part ran, the costliest first."""
    at: Counter[tuple[str, int, str]] = Counter()
    stacks = _timed_stacks(evidence, part) if part in ("gc", "tracing") else evidence.samples.stacks.items()
    for stack, count in stacks:
        if stack.frames and (part == "gc" or counts_for_part(part, stack)):
            leaf = stack.frames[-1]
            at[leaf.file, leaf.line, "" if leaf.name.startswith("<") else leaf.name] += count
    return [SourceSpan(*place) for place, _ in at.most_common(MAX_LINES)]


def _timed_stacks(evidence: Evidence, part: PartName) -> Iterator[tuple[Stack, int]]:
    """Yield stacks with the ns of garbage collection or tracing that ended at them.

    Collections and traces were timed one by one, also if samples are few. No sample is taken during a collection: the
    first sample after it has the line that the collection interrupted.
    """
    log, spans = evidence.log, evidence.collections if part == "gc" else evidence.tracing
    taken = log.inside(log.whole)
    for (before, _), (when, stack) in zip(taken, taken[1:], strict=False):
        if took := spans.overlap(before, when):
            yield stack, took


def counts_for_part(part: PartName, stack: Stack) -> bool:
    """Return whether a sample counts for a part of the account."""
    if part == "evaluate":
        return stack.context == "evaluate"
    if part == "gc":  # it interrupts what makes objects
        return stack.activity in ("python", "dispatch")
    return part_of(stack.activity) == part or (part == "other" and stack.activity == "waiting")
