"""The trace as slices for ``tfperf export``: on the run's own clock, in bounded memory, at most so many events.

Two passes over the file: the first counts events by length and finds the step markers, the second gives the events
that are kept. Times in a trace count from the session's begin; our markers in it (``train``, stat ``tfperf``) stand
for steps whose begin is known on the run's clock.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tfperfkit.errors import Unavailable
from tfperfkit.probe import Capture
from tfperfkit.records.events import of_kind
from tfperfkit.records.steps import StepTable
from tfperfkit.timeline import Slice, Tick, Timeline
from tfperfkit.xplane import open_space
from tfperfkit.xplane.names import STEP_MARKER
from tfperfkit.xplane.reader import Event, Line, Space

_TICK_EVERY = 20_000
_TEXT = 300
_ARGUMENTS = 12


class Survey(NamedTuple):
    """The result of the first pass: events by ``duration_ps.bit_length()``, and (step, begin in ps) of our markers."""

    lengths: Counter[int]
    markers: list[tuple[int, int]]


class Alignment(NamedTuple):
    """``offset_ns`` added to a time of the trace gives the run's clock."""

    offset_ns: float
    words: str


def timeline(capture: Capture, files: list[Path], limit_bytes: int, limit: int, tick: Tick) -> Timeline:
    """All sessions of the run; a file that can't be read becomes a note, unless none can."""
    parts: list[Iterator[Slice]] = []
    notes: list[str] = []
    failures: list[str] = []
    share = limit // max(len(files), 1)
    for file in files:
        try:
            with open_space(file, limit_bytes) as space:
                found = survey(space, tick)
            aligned = align(found.markers, capture.steps, _opened_ns(capture))
        except Unavailable as error:
            failures.append(str(error))
            continue
        lower = shortest_kept(found.lengths, share)
        left_out = sum(count for length, count in found.lengths.items() if length < lower)
        notes.append(f"{file.name}: {aligned.words}")
        if left_out:
            shortest = (1 << (lower - 1)) / 1e6
            notes.append(f"{file.name}: {left_out} events shorter than {shortest:.3g} microseconds are left out")
        prefix = "TensorFlow" if len(files) == 1 else f"TensorFlow {file.parent.name}/{file.name.partition('.')[0]}"
        parts.append(_slices(file, limit_bytes, aligned.offset_ns, lower, prefix, tick))
    if not parts:
        raise Unavailable("; ".join(failures) or "no trace was recorded")
    return Timeline((item for part in parts for item in part), (*notes, *failures))


def survey(space: Space, tick: Tick) -> Survey:
    """Count, and find the markers."""
    lengths: Counter[int] = Counter()
    markers = []
    for count, (_, event) in enumerate(_events(space)):
        lengths[event.duration_ps.bit_length()] += 1
        if event.name == STEP_MARKER and event.stat("tfperf") == 1:
            number = event.stat("step_num")
            if isinstance(number, int):
                markers.append((number, event.begin_ps))
        if count % _TICK_EVERY == 0:
            tick(count)
    return Survey(lengths, markers)


def shortest_kept(lengths: Counter[int], limit: int) -> int:
    """The bit length from which on events are kept, so that there are at most ``limit``."""
    kept = 0
    for length in sorted(lengths, reverse=True):
        kept += lengths[length]
        if kept > limit:
            return length + 1
    return 0


def align(markers: list[tuple[int, int]], steps: StepTable, opened_ns: int | None) -> Alignment:
    """From the trace's clock to the run's. Raises ``Unavailable`` when nothing tells.

    ``opened_ns``: when the window had opened, right after the first marker began.
    """
    begins = {step.number: step for step in steps.steps}
    known = [(begins[number], begin_ps / 1000) for number, begin_ps in markers if number in begins]
    first = min((begin_ps / 1000 for _, begin_ps in markers), default=0.0)
    if known:
        offsets = [step.begin_ns - begin for step, begin in known]
        middle = statistics.median(offsets)
        apart = max(abs(offset - middle) for offset in offsets)
        # The steps are counted again for the report and may then be numbered otherwise than while they ran.
        longest = max(step.end_ns - step.begin_ns for step, _ in known)
        if apart <= longest / 2 and (opened_ns is None or abs(middle + first - opened_ns) <= longest):
            words = f"aligned by {len(offsets)} step markers, which agree within {apart / 1e6:.2g} ms"
            return Alignment(middle, words)
    if opened_ns is not None:
        return Alignment(opened_ns - first, "aligned by the window's begin, to a few milliseconds: no step marker fits")
    raise Unavailable("the trace holds no step that the run knows, so its place in time is not known")


def _slices(file: Path, limit_bytes: int, offset_ns: float, lower: int, prefix: str, tick: Tick) -> Iterator[Slice]:
    with open_space(file, limit_bytes) as space:
        for count, (line, event) in enumerate(_events(space)):
            if count % _TICK_EVERY == 0:
                tick(count)
            marker = event.name == STEP_MARKER
            if event.duration_ps.bit_length() < lower and not marker:
                continue
            args = arguments(event)
            name = f"{event.name} {args['step_num']}" if marker and "step_num" in args else event.name
            yield Slice(
                f"{prefix} {line.plane}",
                line.name,
                name[:_TEXT] or "(no name)",
                offset_ns + event.begin_ps / 1000,
                event.duration_ps / 1000,
                args,
            )


def arguments(event: Event) -> dict[str, object]:
    """The stats that say something to a user: no internal ones, no long ones."""
    found: dict[str, object] = {}
    for name, value in event.stats.items():
        if name.startswith("_") or name in _INTERNAL or isinstance(value, bytes):
            continue
        found[name[:_TEXT]] = value[:_TEXT] if isinstance(value, str) else value
        if len(found) == _ARGUMENTS:
            break
    return found


_INTERNAL = frozenset(
    {"group_id", "producer_type", "producer_id", "consumer_type", "consumer_id", "context_id", "correlation_id", "flow"}
)


class _Track(NamedTuple):
    plane: str
    name: str


def _events(space: Space) -> Iterator[tuple[_Track, Event]]:
    """The threads' events in the file's order, without the thread pool's marks: two thirds of a graph's trace, most
    of them without a length."""
    for plane in space.planes:
        if plane.name.startswith("/host:metadata") or plane.name == "Task Environment":
            continue
        for line in plane.lines():
            track = _Track(plane.name, _name(line))
            for event in line.events(lambda name: not name.startswith("ThreadpoolListener::")):
                yield track, event


def _name(line: Line) -> str:
    """Names need not differ; with the id they do. A thread's often ends with it."""
    name = (line.display_name or line.name or "line")[:_TEXT]
    return name if name.endswith(str(line.id)) else f"{name} ({line.id})"


def _opened_ns(capture: Capture) -> int | None:
    for event in of_kind(capture.session_records("events"), "opened"):
        if event.get("probe") == "tfprof":
            ns = event.get("ns")
            return ns if isinstance(ns, int) else None
    return None
