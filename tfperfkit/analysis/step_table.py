"""The table of steps and windows, read back from what the session wrote."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tfperfkit.model import WindowSummary
from tfperfkit.records.convert import each
from tfperfkit.records.events import of_kind, whole_number, window_spans
from tfperfkit.records.spans import Spans
from tfperfkit.records.step_cutter import cut
from tfperfkit.records.steps import (
    IN_ONE_CALL,
    PAUSE,
    UPDATES,
    WARMUP_MIN,
    Definition,
    Marker,
    Site,
    Step,
    StepCounter,
    StepTable,
)
from tfperfkit.storage.ring import SEGMENTS
from tfperfkit.storage.run_directory import RunDirectory

#: One call holds no more steps than this (``steps_per_execution``, a loop in a graph).
MAX_STEPS = 1_000_000
NO_STEPS = "No training step was seen."


class Weighted:
    """Values that each stand for several (a call that holds many steps), never written out one by one."""

    def __init__(self, pairs: Iterable[tuple[float, int]]) -> None:
        self._pairs = sorted(pair for pair in pairs if pair[1] > 0)
        self._ends = list(itertools.accumulate(count for _, count in self._pairs))
        self.count = self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> float:
        return self._pairs[bisect.bisect_right(self._ends, index)][0]

    def at(self, share: float) -> float:
        """Return the value at this share (0 to 1) of the sorted values."""
        return self[min(self.count - 1, int(share * self.count))]

    @property
    def median(self) -> float:
        return (self[(self.count - 1) // 2] + self[self.count // 2]) / 2

    @property
    def mean(self) -> float:
        return math.fsum(value * count for value, count in self._pairs) / self.count


def read_windows(events: Sequence[dict[str, Any]]) -> dict[str, WindowSummary]:
    """Each probe's window as it came out, by probe, in order of time; not what it was given again after the steps."""
    windows: dict[str, WindowSummary] = {}
    again: set[str] = set()
    for event in of_kind(events, "window", "window_end", "probe"):
        name = str(event.get("probe", ""))
        if event["kind"] == "window" and event.get("again"):
            again.add(name)
        elif name in again:
            continue
        elif event["kind"] == "window":
            reason = "the process ended inside the window"
            windows[name] = WindowSummary(
                name=name, first_step=whole_number(event, "step"), steps=0, status="cut", reason=reason
            )
        elif event["kind"] == "window_end" and name in windows:
            begun = windows[name]
            cut_short = event.get("status") == "cut"
            windows[name] = WindowSummary(
                name=name,
                first_step=begun.first_step,
                steps=max(whole_number(event, "step") - begun.first_step, 0),
                status="cut" if cut_short else "ok",
                reason="the run ended inside the window" if cut_short else "",
            )
        elif event["kind"] == "probe" and name in windows and event.get("status") != "ok":
            windows[name] = msgspec.structs.replace(windows[name], status="skipped", reason=str(event.get("reason")))
    return windows


def read_steps(run: RunDirectory, events: Sequence[dict[str, Any]], steps_from: str | None = None) -> StepTable:
    """Count the steps from the stored markers, with everything that is known at the end.

    ``steps_from`` is the function that the user named as one step.
    """
    counter = StepCounter()
    for site in each(run.records("session/sites.jsonl"), Site):
        counter.add_site(site)
    # Others are damaged: so many steps would fill the memory.
    markers = [m for m in each(run.records("session/markers.jsonl"), Marker) if 0 <= m.steps <= MAX_STEPS]
    markers = without_failed(markers, counter.sites, events)
    for marker in markers:
        counter.count(marker)
    definition = counter.definition()
    if definition is None:
        if steps_from:
            return StepTable(
                note=f"--steps-from {steps_from}: no call of a function of that name was seen. A method "
                "of several classes must be named Class.method; tfperf cannot find a function that is defined "
                "inside another function."
            )
        return StepTable(note=NO_STEPS, batch_size=_find_only_batch(counter.sites.values()))
    if steps_from and definition.source != "function":
        note = f"--steps-from {steps_from}: no call of such a function was seen, so the steps were found otherwise"
    else:
        note = ""
    segments = _segments(run)
    gaps = _gaps(segments, markers)
    steps = _one_after_another(cut(counter, _parted(markers, gaps), definition))
    steps, dropped = _numbered(steps, segments, gaps)
    warm = next((int(e["ns"]) for e in of_kind(events, "warm") if isinstance(e.get("ns"), int)), None)
    involved = [counter.sites[i] for i in (*definition.begins, *definition.ends)]
    batch = next((site.batch_size for site in involved if site.batch_size), 0)
    return StepTable(
        steps=steady_call(label(steps, window_spans(events), warm), tracing_spans(run)),
        source=definition.source,
        definition=in_words(definition),
        loop=definition.place if definition.unit == "iteration" else None,
        batch_size=batch,
        note=note,
        pauses=tuple((marker.begin_ns, marker.end_ns) for marker in markers if marker.site == PAUSE),
        gaps=gaps,
        dropped=dropped,
    )


def _find_only_batch(sites: Iterable[Site]) -> int:
    """Find the number of examples in a batch of a run that trains nothing: the one of all its iterators; 0 if they
    differ."""
    sizes = {site.batch_size for site in sites if site.batch_size}
    return sizes.pop() if len(sizes) == 1 else 0


def _segments(run: RunDirectory) -> list[tuple[int, int, int]]:
    """Return the files that watch mode kept: number, when it began (ns), after how many steps."""
    rows = run.records(f"{SEGMENTS}.jsonl")
    found = [tuple(row) for row in rows if isinstance(row, list) and len(row) == 3 and all(type(v) is int for v in row)]
    return sorted(found)


def _gaps(segments: Sequence[tuple[int, int, int]], markers: Sequence[Marker]) -> tuple[tuple[int, int], ...]:
    """When the records are missing, as files in between were dropped."""
    ends = [marker.end_ns for marker in markers]
    found = []
    for before, after in itertools.pairwise(segments):
        if after[0] > before[0] + 1:
            index = bisect.bisect_right(ends, after[1]) - 1
            found.append((max(ends[index] if index >= 0 else 0, before[1]), after[1]))
    return tuple(found)


def _parted(markers: list[Marker], gaps: Sequence[tuple[int, int]]) -> list[Marker]:
    """Return the markers, with one in each gap that no step goes across."""
    if not gaps:
        return markers
    return sorted([*markers, *(Marker(PAUSE, begin, end, 0) for begin, end in gaps)], key=lambda m: m.begin_ns)


def _numbered(
    steps: tuple[Step, ...], segments: Sequence[tuple[int, int, int]], gaps: Sequence[tuple[int, int]]
) -> tuple[tuple[Step, ...], int]:
    """Return the steps with the numbers that they had in the run, and how many are missing between the first and the
    last."""
    if not segments or not steps:
        return steps, 0
    known = {when: number for _, when, number in segments}
    ends = [end for _, end in gaps]
    first = segments[0][2] if segments[0][0] == 0 else 0
    shift, dropped, made = first, 0, []
    for step in steps:
        while ends and step.begin_ns >= ends[0]:
            missing = max(known[ends.pop(0)] - (step.number + shift - 1), 0)
            shift, dropped = shift + missing, dropped + missing
        made.append(msgspec.structs.replace(step, number=step.number + shift) if shift else step)
    return tuple(made), dropped


def _one_after_another(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the steps; where damaged times make them overlap throughout, those only that begin after the one
    before."""
    if not steps:
        return steps
    span = max(step.end_ns for step in steps) - min(step.begin_ns for step in steps)
    lengths = [step.end_ns - step.begin_ns for step in steps]
    if min(lengths) >= 0 and sum(lengths) <= 2 * span:
        return steps
    kept: list[Step] = []
    for step in steps:
        if step.end_ns >= step.begin_ns and (not kept or step.begin_ns >= kept[-1].end_ns):
            kept.append(step)
    return tuple(kept)


def label(steps: tuple[Step, ...], spans: Sequence[tuple[int, int, str]], warm: int | None = None) -> tuple[Step, ...]:
    """Give each step the name of the window (``window_spans``) that it ran in. ``warm``: when the warm-up had ended."""
    begins = [span[0] for span in spans]
    labelled = []
    previous = "warmup"
    for step in steps:
        index = bisect.bisect_right(begins, step.end_ns) - 1
        inside = next((s for s in spans[: index + 1] if s[0] < step.end_ns and s[1] > step.begin_ns), None)
        if inside is not None:
            window = inside[2]
        elif (warm is not None and step.begin_ns < warm - 1_000_000) or (warm is None and step.number <= WARMUP_MIN):
            window = "warmup"
        else:
            window = "clean" if previous in ("clean", "settle", "warmup") else "settle"
        labelled.append(msgspec.structs.replace(step, window=window))
        previous = window
    return tuple(labelled)


def tracing_spans(run: RunDirectory) -> Spans:
    """When functions were traced."""
    return Spans(
        (row[0], row[1])
        for row in run.records("session/tracing.jsonl")
        if isinstance(row, list) and len(row) >= 2 and isinstance(row[0], int) and isinstance(row[1], int)
    )


def described_spans(run: RunDirectory) -> Spans:
    """Return when tfperf described traces, while the script waited."""
    return Spans(
        (row[1], row[2])
        for row in run.records("session/tracing.jsonl")
        if isinstance(row, list) and len(row) > 2 and isinstance(row[1], int) and isinstance(row[2], int)
    )


def in_words(definition: Definition) -> str:
    """Say what counts as a step: ``a batch of Model.fit``, ``an iteration of the loop at train.py:30``."""
    place = f"{definition.place.file}:{definition.place.line}" if definition.place is not None else ""
    return {
        "named_call": f"a call of {definition.name}",
        "fit_batch": "a batch of Model.fit",
        "iteration": f"an iteration of the loop at {place}",
        "update": f"an update at {place}",
        "graph_iteration": f"an iteration of the loop inside {definition.name}, by the optimizer's counter",
    }[definition.unit]


def without_failed(markers: list[Marker], sites: Mapping[int, Site], events: Sequence[dict[str, Any]]) -> list[Marker]:
    """Drop the marker of the step that failed: its call raised what ended the script, and updated nothing. It is the
    last one, and the exception passed its user lines on the way out."""
    raised = next(of_kind(events, "end"), {}).get("raised")
    seen = [(index, marker) for index, marker in enumerate(markers) if marker.site != PAUSE] if raised else []
    if not isinstance(raised, list) or not seen:
        return markers
    index, last = max(seen, key=lambda item: item[1].end_ns)
    site = sites.get(last.site)
    if site is None or site.kind not in UPDATES:
        return markers
    chain = site.chain or ((site.file, site.line),)
    if tuple(tuple(each) for each in raised if isinstance(each, list)) != chain:
        return markers
    return [*markers[:index], *markers[index + 1 :]]


def steady_call(steps: tuple[Step, ...], tracing: Spans) -> tuple[Step, ...]:
    """Label the last call as clean if no step is and each call makes many steps (an epoch, or all of the training).

    A window in that call, and the optimisation of its graph, count little over so many steps. Its tracing is cut off.
    """
    if not steps or any(step.count < IN_ONE_CALL or step.window == "clean" for step in steps):
        return steps
    last = steps[-1]
    inside = [span for span in tracing if last.begin_ns <= span[0] < last.end_ns]
    begin = max((end for _, end in inside), default=last.begin_ns)
    computes = last.end_ns - last.begin_ns - tracing.overlap(last.begin_ns, last.end_ns)
    if 2 * (last.end_ns - begin) < computes:  # something was traced again during the call
        begin = last.begin_ns
    return (*steps[:-1], msgspec.structs.replace(last, begin_ns=begin, window="clean"))


def one_call_note(steps: Sequence[Step], count: int) -> str:
    """Say how the time of a step is known if all steps ran in a few calls."""
    if len(steps) == 1:
        return f"all {count:,} steps ran in one call: a step's time is its mean, from where its tracing ended"
    return f"all {count:,} steps ran in {len(steps)} calls: a step's time is the mean of one"
