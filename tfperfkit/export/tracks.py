"""Our own tracks: steps, windows, traces of tf.functions; from what the session kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from tfperfkit.analysis.stored_run import StoredRun
from tfperfkit.records.steps import Step
from tfperfkit.timeline import Slice

GROUP = "tfperf"
#: A longer run's later steps are left out, and the command says so.
MAX_STEPS = 100_000
_MAX_TRACES = 20_000
_STEPS, _WINDOWS, _TRACES = "steps", "windows", "traces of tf.functions"


def steps(table: tuple[Step, ...]) -> Iterator[Slice]:
    for step in table[:MAX_STEPS]:
        last = step.number + step.count - 1
        name = f"step {step.number}" if step.count == 1 else f"steps {step.number}-{last}"
        args = {"window": step.window, "input_ms": round(step.input_ns / 1e6, 3)}
        yield Slice(GROUP, _STEPS, name, step.begin_ns, step.end_ns - step.begin_ns, args)


def windows(run: StoredRun) -> Iterator[Slice]:
    """Warm-up and clean stretches from the steps' labels, each probe's window from its events."""
    spans: list[tuple[int, int, str]] = []
    for step in run.steps.steps:
        if spans and spans[-1][2] == step.window:
            spans[-1] = (spans[-1][0], step.end_ns, step.window)
        else:
            spans.append((step.begin_ns, step.end_ns, step.window))
    for begin, end, name in spans:
        yield Slice(GROUP, _WINDOWS, _WORDS.get(name, name), begin, end - begin)


_WORDS = {"warmup": "warm-up", "settle": "settling after a window"}


def traces(run: StoredRun) -> Iterator[Slice]:
    """One slice per trace, counted for each place of a definition: after the first they are retraces, or traces of
    another tf.function made there. Traces on other threads, which do not nest, get
    tracks of their own."""
    rows = []
    for row in run.directory.records("session/traces.jsonl"):
        if isinstance(row, list) and len(row) >= 5 and all(isinstance(value, int) for value in row[3:5]):
            rows.append((row[3], max(row[4], row[3]), str(row[2]), str(row[0]), row[1]))
        if len(rows) == _MAX_TRACES:
            break
    rows.sort(key=lambda row: (row[0], -row[1]))
    seen: dict[tuple[object, ...], int] = {}
    tracks: list[list[int]] = []  # the ends of the open slices, outermost first
    for begin, end, name, file, line in rows:
        number = seen[name, file, line] = seen.get((name, file, line), 0) + 1
        track = _place(tracks, begin, end)
        args = {"file": file, "line": line, "step": run.steps.number_at(begin)}
        label = _TRACES if track == 0 else f"{_TRACES} {track + 1}"
        yield Slice(GROUP, label, f"trace {number} of {name} ({PurePath(file).name}:{line})", begin, end - begin, args)


def _place(tracks: list[list[int]], begin: int, end: int) -> int:
    """Return the first track in which it nests."""
    for number, ends in enumerate(tracks):
        while ends and ends[-1] <= begin:
            ends.pop()
        if not ends or end <= ends[-1]:
            ends.append(end)
            return number
    tracks.append([end])
    return len(tracks) - 1
