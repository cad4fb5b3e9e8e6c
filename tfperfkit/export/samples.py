"""The Python samples of the session: as nested slices for the timeline, and as a speedscope file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, NamedTuple

from tfperfkit.clock import NS_PER_S
from tfperfkit.records.samples import FAST_S
from tfperfkit.timeline import Slice

#: After this many times the usual pause nothing is known of what ran: something held the interpreter, or slept.
_GAP = 3.0
_MAX = 200_000
_GROUP = "Python samples"


class Frame(NamedTuple):
    """A level of a stack. ``line`` is the function's first line, or the line that ran in the innermost level."""

    name: str
    file: str
    line: int


Stack = tuple[Frame, ...]
UNKNOWN: Stack = (Frame("(no sample)", "", 0),)


class Run(NamedTuple):
    """A stretch of time with one stack on one thread."""

    begin_ns: int
    end_ns: int
    stack: Stack


class Samples(NamedTuple):
    """Each thread's stretches in order, and how many samples came after the most that are shown."""

    threads: dict[int, list[Run]]
    taken: int
    left_out: int


def read(rows: Iterable[Any]) -> Samples:
    """From the stream ``samples``, which tells the pause between samples too."""
    pause = round(FAST_S * NS_PER_S)
    stacks: dict[int, Stack] = {}
    threads: dict[int, list[Run]] = {}
    last: dict[int, tuple[int, Stack, int]] = {}  # when, what, and the pause to the next
    count = runs = left_out = 0
    for row in rows:
        if _is_stack(row):
            stacks[row[1]] = _stack(row[2], str(row[3]))
        elif _is_rate(row):
            pause = row[2]
        elif _is_sample(row) and row[2] in stacks:
            _, when, number, thread = row
            if runs >= _MAX:
                left_out += 1
                continue
            count += 1
            if thread in last:
                runs += _extend(threads.setdefault(thread, []), *last[thread], when)
            last[thread] = (when, stacks[number], pause)
    for thread, (when, stack, rest) in last.items():
        _append(threads.setdefault(thread, []), Run(when, when + rest, stack))
    return Samples(threads, count, left_out)


def slices(samples: Samples) -> Iterator[Slice]:
    """Yield slices: a function is one slice for as long as it stays on the stack."""
    for number, runs in enumerate(samples.threads.values(), 1):
        track = "training thread" if len(samples.threads) == 1 else f"thread {number}"
        opened: list[tuple[Frame, int]] = []
        end = 0
        for run in runs:
            known: Stack = () if run.stack is UNKNOWN else run.stack
            same = 0
            while same < min(len(opened), len(known)) and opened[same][0] == known[same]:
                same += 1
            yield from _closed(track, opened[same:], run.begin_ns)
            opened = opened[:same] + [(frame, run.begin_ns) for frame in known[same:]]
            end = run.end_ns
        yield from _closed(track, opened, end)


def speedscope(samples: Samples, name: str, version: str, origin_ns: int) -> dict[str, object]:
    """Return the document; see https://www.speedscope.app/file-format-schema.json."""
    frames: dict[Frame, int] = {}
    profiles = []
    for number, runs in enumerate(samples.threads.values(), 1):
        known: dict[Stack, list[int]] = {}
        for run in runs:
            if run.stack not in known:
                known[run.stack] = [frames.setdefault(frame, len(frames)) for frame in run.stack]
        profiles.append(
            {
                "type": "sampled",
                "name": name if len(samples.threads) == 1 else f"{name}, thread {number}",
                "unit": "nanoseconds",
                "startValue": runs[0].begin_ns - origin_ns,
                "endValue": runs[-1].end_ns - origin_ns,
                "samples": [known[run.stack] for run in runs],
                "weights": [run.end_ns - run.begin_ns for run in runs],
            }
        )
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": f"tfperfkit {version}",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {
            "frames": [
                {"name": _printable(frame.name)}
                | ({"file": _printable(frame.file), "line": frame.line} if frame.file else {})
                for frame in frames
            ]
        },
        "profiles": profiles,
    }


def _extend(runs: list[Run], begin: int, stack: Stack, pause: int, end: int) -> int:
    """Extend a stack until the next sample, or for one pause when that one is late. How many stretches were added."""
    if end - begin <= _GAP * pause:
        return _append(runs, Run(begin, end, stack))
    return _append(runs, Run(begin, begin + pause, stack)) + _append(runs, Run(begin + pause, end, UNKNOWN))


def _append(runs: list[Run], run: Run) -> int:
    if runs and runs[-1].stack is run.stack and runs[-1].end_ns == run.begin_ns:
        runs[-1] = Run(runs[-1].begin_ns, run.end_ns, run.stack)
        return 0
    if run.end_ns > run.begin_ns:
        runs.append(run)
        return 1
    return 0


def _closed(track: str, opened: list[tuple[Frame, int]], end: int) -> Iterator[Slice]:
    for frame, begin in opened:
        args = {"file": frame.file, "line": frame.line} if frame.file else {}
        yield Slice(_GROUP, track, frame.name, begin, end - begin, args)


def _stack(rows: list[object], library: str) -> Stack:
    """Return the user's functions, the line that ran in the innermost one, and the package that it was in, if any."""
    frames = []
    for row in rows:
        if isinstance(row, list) and len(row) >= 4 and isinstance(row[1], int) and isinstance(row[3], int):
            frames.append((Frame(f"{row[2]} ({PurePath(str(row[0])).name})", str(row[0]), row[1]), row[3]))
    levels = [frame for frame, _ in frames]
    if frames:
        inner, line = frames[-1]
        levels.append(Frame(f"{PurePath(inner.file).name}:{line}", inner.file, line))
    if library:
        levels.append(Frame(f"[{library}]", "", 0))
    return tuple(levels) or UNKNOWN


def _is_stack(row: object) -> bool:
    return isinstance(row, list) and len(row) >= 4 and row[0] == "stack" and _int(row[1]) and isinstance(row[2], list)


def _is_sample(row: object) -> bool:
    return isinstance(row, list) and len(row) >= 4 and row[0] == "s" and all(map(_int, row[1:]))


def _is_rate(row: object) -> bool:
    return isinstance(row, list) and len(row) == 3 and row[0] == "rate" and all(map(_int, row[1:])) and row[2] > 0


def _int(value: object) -> bool:
    return isinstance(value, int)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
