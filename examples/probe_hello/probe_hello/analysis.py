"""The analysing half: reads files only, so it needs no TensorFlow and can be run again years later."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from probe_hello.watcher import STREAM
from tfperfkit.clock import ms
from tfperfkit.gain import from_shares
from tfperfkit.model import Column, Finding, Measurement, ProbeResult, SourceSpan, Table
from tfperfkit.offers import GarbageCollections
from tfperfkit.probe import Capture
from tfperfkit.records.steps import Step

#: Full collections that take less of a step than this (0 to 1) are not worth a finding.
MIN_SHARE = 0.02


class Collection(msgspec.Struct, frozen=True, array_like=True):
    """A record of ``Watcher``."""

    begin_ns: int
    end_ns: int
    generation: int
    place: tuple[str, int, str] | None = None


@dataclass(frozen=True)
class Generation:
    """The collections of one generation inside the steps. ``share`` is of the steps' time, 0 to 1."""

    generation: int
    collections: int
    per_step: float
    ms_per_step: float
    longest_ms: float
    share: float


@dataclass(frozen=True)
class HelloData:
    """The data that the JSON report holds under ``data``. ``collections`` counts those of the whole run."""

    collections: int
    steps: int
    ms_per_step: float
    generations: list[Generation]


def analyze(capture: Capture) -> ProbeResult:
    """Set the collections against the steps in which nothing else was measured."""
    collections = read(capture)
    steps = capture.steps.clean or capture.steps.steps
    inside = within(collections, steps)
    count = sum(step.count for step in steps)
    spent_ns = sum(step.end_ns - step.begin_ns for step in steps)
    generations = [_generation(number, inside, count, spent_ns) for number in (0, 1, 2)] if count else []
    per_step_ms = sum(item.ms_per_step for item in generations)
    if not count:
        summary = f"{len(collections)} collections; no training steps to set them against"
    else:
        summary = f"{len(inside)} collections in {count} steps, {per_step_ms:.3g} ms of each step"
    return ProbeResult(
        data=HelloData(len(collections), count, per_step_ms, generations),
        tables=(_table(generations),) if generations else (),
        findings=_findings(capture, inside, generations[2], count) if generations else (),
        summary=summary,
        notes=capture.notes,
        offers=(GarbageCollections(spans=tuple((item.begin_ns, item.end_ns) for item in collections)),),
    )


def read(capture: Capture) -> list[Collection]:
    """The collections, in order of time. A damaged line costs one collection, not the report."""
    found = []
    for raw in capture.records(STREAM):
        try:
            found.append(msgspec.convert(raw, Collection))
        except msgspec.ValidationError:
            continue
    return sorted(found, key=lambda collection: collection.begin_ns)


def within(collections: Sequence[Collection], steps: Sequence[Step]) -> list[Collection]:
    """Those that began in one of the steps."""
    begins = [step.begin_ns for step in steps]
    places = [(bisect_right(begins, item.begin_ns) - 1, item) for item in collections]
    return [item for index, item in places if index >= 0 and item.begin_ns < steps[index].end_ns]


def _generation(number: int, inside: Sequence[Collection], steps: int, spent_ns: int) -> Generation:
    durations = [item.end_ns - item.begin_ns for item in inside if item.generation == number]
    return Generation(
        generation=number,
        collections=len(durations),
        per_step=len(durations) / steps,
        ms_per_step=ms(sum(durations)) / steps,
        longest_ms=ms(max(durations, default=0)),
        share=min(sum(durations) / spent_ns, 1.0) if spent_ns else 0.0,
    )


def _table(generations: Sequence[Generation]) -> Table:
    return Table(
        title="Garbage collections inside the training steps",
        columns=(
            Column("generation"),
            Column("collections", "count"),
            Column("per step", "number"),
            Column("each step", "ms"),
            Column("longest", "ms"),
            Column("of the step", "share"),
        ),
        rows=tuple(
            (
                "2 (full)" if item.generation == 2 else str(item.generation),
                item.collections,
                item.per_step,
                item.ms_per_step,
                item.longest_ms if item.collections else None,
                item.share,
            )
            for item in generations
        ),
        marked=(2,) if generations[2].share >= MIN_SHARE else (),
    )


def _findings(capture: Capture, inside: Sequence[Collection], full: Generation, steps: int) -> tuple[Finding, ...]:
    if full.share < capture.options["min_share"]:
        return ()
    places = [item.place for item in inside if item.generation == 2 and item.place]
    where = max(set(places), key=lambda place: (places.count(place), place)) if places else None
    advice = (
        "Call gc.freeze() once, after the model and the data pipeline are built: what lives until the end is then "
        "not looked through again and again."
    )
    if where and "gc.collect" in _line(capture, where):
        advice = "Take the call of gc.collect() out of the loop, or make it once in a few hundred steps."
    window = "baseline" if capture.steps.clean else "run"
    return (
        Finding(
            code="HEL001",
            family="memory",
            title="Full garbage collections run inside the training steps",
            severity="high" if full.share >= 0.2 else "medium",
            share_of_step=full.share,
            gain=from_shares(full.share, full.share),
            where=(SourceSpan(*where),) if where else (),
            evidence=(
                Measurement("full collections", full.collections, "count", window),
                Measurement("steps", steps, "count", window),
                Measurement("full collections, each step", full.ms_per_step, "ms", window),
                Measurement("longest full collection", full.longest_ms, "ms", window),
            ),
            advice=advice,
        ),
    )


def _line(capture: Capture, place: tuple[str, int, str]) -> str:
    lines = capture.source(place[0])
    return lines[place[1] - 1] if 0 < place[1] <= len(lines) else ""
