"""Pictures of a run: its steps, where samples and compiled lines fell, and what its probes draw."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec

from tfperfkit.analysis.flame import flame, heat, part_lines
from tfperfkit.analysis.start_line import start_line
from tfperfkit.analysis.stored_run import Beginning
from tfperfkit.model import Finding, ProbeOutcome, ProbeResult
from tfperfkit.picture import PictureProbe
from tfperfkit.records.pictures import MAX_BARS, MAX_EVENTS, Album, Bar, Happening, Picture, Timeline, Tree
from tfperfkit.records.spans import Span
from tfperfkit.records.steps import Step
from tfperfkit.rule import Evidence

#: Characters of source that an album carries, of all files and of one line.
_MAX_SOURCE, _MAX_LINE = 400_000, 400
_MAX_PICTURES = 40


def album(
    evidence: Evidence,
    outcomes: Sequence[ProbeOutcome],
    findings: Sequence[Finding],
    captured: Callable[[str], tuple[object, Any]],
    begun: Beginning | None = None,
) -> Album:
    """``captured``: the probe of a name and its capture; ``begun``: when the process did. A probe that fails to draw
    draws nothing."""
    whole = flame(evidence)
    warm = heat(evidence)
    pictures = [*([whole] if whole is not None else []), *_drawn(outcomes, captured)]
    files = [span.file for finding in findings for span in finding.where]
    files += [line.file for line in warm]
    files += [node.file for picture in pictures if isinstance(picture, Tree) for node in picture.nodes if node.file]
    return Album(
        timeline=timeline(evidence),
        start=start_line(evidence, begun),
        pictures=tuple(pictures[:_MAX_PICTURES]),
        sources=_sources(evidence, files),
        heat=tuple(warm),
        part_lines=part_lines(evidence),
    )


def _drawn(outcomes: Sequence[ProbeOutcome], captured: Callable[[str], tuple[object, Any]]) -> Iterator[Picture]:
    for outcome in outcomes:
        if outcome.status not in ("ok", "cut") or not outcome.data:
            continue
        try:
            probe, capture = captured(outcome.name)
            if isinstance(probe, PictureProbe):
                made = list(probe.pictures(capture, ProbeResult(data=outcome.data)))
                yield from msgspec.convert(msgspec.to_builtins(made), list[Picture])
        except Exception:  # a fault of the probe: its tables say the same
            continue


def _sources(evidence: Evidence, files: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the files that matter most, as far as there is room: the first named come first."""
    found: dict[str, tuple[str, ...]] = {}
    room = _MAX_SOURCE
    for file in dict.fromkeys(files):
        lines = tuple(line[:_MAX_LINE] for line in evidence.source(file))
        size = sum(map(len, lines)) + len(lines)
        if lines and size <= room:
            found[file] = lines
            room -= size
    return found


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
    """Return the longest, in order of steps; what was before the first step has number 0."""
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
