"""The steps as bars: each one, or so many neighbours together that a page can hold them."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Iterable, Sequence
from itertools import groupby

from tfperfkit.records.pictures import MAX_BARS, MAX_EVENTS, Bar, Happening, Timeline
from tfperfkit.records.spans import Span
from tfperfkit.records.steps import Step
from tfperfkit.rule import Evidence

#: Shorter than this is no event that an eye could find, in ms.
_MIN_MS = 1.0


def timeline(evidence: Evidence) -> Timeline | None:
    """None without steps."""
    steps = evidence.steps.steps
    if not steps:
        return None
    return Timeline(bars=bars(steps), happenings=_happenings(evidence, steps))


def bars(steps: Sequence[Step], limit: int = MAX_BARS) -> tuple[Bar, ...]:
    """One for each step, or for as many neighbours of one window as keep their number near ``limit``."""
    size = math.ceil(len(steps) / limit)
    made = []
    for window, group in groupby(steps, key=lambda step: step.window):
        run = list(group)
        made += [_bar(run[start : start + size], window) for start in range(0, len(run), size)]
    return tuple(made)


def _bar(steps: Sequence[Step], window: str) -> Bar:
    times = [step.duration_ns / 1e6 for step in steps]
    count = sum(step.count for step in steps)
    low, middle, high = min(times), statistics.median(times), max(times)
    return Bar(steps[0].number, count, round(low, 4), round(middle, 4), round(high, 4), window)


def _happenings(evidence: Evidence, steps: Sequence[Step]) -> tuple[Happening, ...]:
    """The longest, in order of steps; what was before the first step has number 0."""
    begins = [step.begin_ns for step in steps]

    def placed(kind: str, spans: Iterable[Span]) -> list[Happening]:
        found = []
        for begin, end in spans:
            index = bisect.bisect_right(begins, begin) - 1
            took = (end - begin) / 1e6
            if took >= _MIN_MS:
                found.append(Happening(kind, steps[index].number if index >= 0 else 0, round(took, 3)))
        return found

    found = placed("tracing", evidence.tracing[:]) + placed("gc", evidence.collections[:])
    for kind, spans in _sampled(evidence).items():
        found += placed(kind, spans)
    longest = sorted(found, key=lambda item: -item.ms)[:MAX_EVENTS]
    return tuple(sorted(longest, key=lambda item: (item.step, item.kind)))


def _sampled(evidence: Evidence) -> dict[str, list[Span]]:
    """When the samples saw saving, and validation or prediction: neighbouring samples are one."""
    spans: dict[str, list[Span]] = {"saving": [], "evaluate": []}
    last: str | None = None
    for when, stack in evidence.log.inside(evidence.log.whole):
        kind = "saving" if stack.activity in ("saving", "summary") else stack.context
        if kind not in spans:
            last = None
            continue
        end = when + evidence.log.pause(when)
        if kind == last:
            spans[kind][-1] = (spans[kind][-1][0], end)
        else:
            spans[kind].append((when, end))
        last = kind
    return spans
