"""The steps in a trace: as the program marked them, as the profiler grouped them, or from what repeats."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tfperfkit.reading.activity import Activity
from tfperfkit.reading.host import HostActivity

#: Fewer repetitions tell no steps.
_MIN_REPEATS = 3
#: A call that repeats for less than this of the recorded time is no step.
_MIN_COVER = 0.2
#: Calls that reach over as much of the longest are those of the same loop.
_SAME_CALLS = 0.9
#: Name that TensorFlow gives to the graph of a function.
_INFERENCE = re.compile(r"^__inference_(?:tf__)?(.+?)_\d+$")
#: Share of the other kernels of a step that must come once in each round.
_MIN_REGULAR = 0.8


class Step(NamedTuple):
    number: int
    begin: int
    end: int


class Owner(NamedTuple):
    """Owner of steps: a host, or with ``device`` a device of the host.

    Sessions of several hosts begin at moments of their own, so steps of one say nothing of another.
    """

    host: str
    device: str = ""


class Steps(NamedTuple):
    """``source``: "markers", "profiler", "repeated program", "repeated call", "repeated kernels" or "none"; ``words``:
    it in a sentence."""

    source: str
    words: str
    by_owner: dict[Owner, tuple[Step, ...]] = {}

    @property
    def numbered(self) -> bool:
        """Return whether a step's number is the program's own, the same on all hosts."""
        return self.source in ("markers", "profiler")

    @property
    def lengths(self) -> list[int]:
        """Return the length of each step (ps), on the device that took longest.

        For several hosts whose steps are guessed, these are the lengths of the slowest host: which of their steps
        belong together is not known.
        """
        if self.numbered:
            return _longest(self.by_owner.values())
        each = [self.lengths_of(host) for host in {owner.host for owner in self.by_owner}]
        return max(each, key=lambda lengths: (statistics.median(lengths), lengths), default=[])

    def lengths_of(self, host: str) -> list[int]:
        """Return the same of one host alone."""
        return _longest(steps for owner, steps in self.by_owner.items() if owner.host == host)

    def find_steps(self, device: Activity) -> tuple[Step, ...]:
        """Return the steps of a device, or else those of its host."""
        return self.by_owner.get(Owner(device.host, device.short_name)) or self.of_host(device.host)

    def of_host(self, host: str) -> tuple[Step, ...]:
        return self.by_owner.get(Owner(host), ())


def _longest(owners: Iterable[tuple[Step, ...]]) -> list[int]:
    longest: dict[int, int] = {}
    for steps in owners:
        for step in steps:
            longest[step.number] = max(longest.get(step.number, 0), step.end - step.begin)
    return [longest[number] for number in sorted(longest)]


def find(hosts: Sequence[HostActivity], devices: Sequence[Activity]) -> Steps:
    """Return the best that the trace has, of each host its own."""
    names = Counter(marker[1] for host in hosts for marker in host.markers)
    if names:
        name = names.most_common(1)[0][0]
        marked = {Owner(host.host): steps for host in hosts if (steps := _marked(host, name))}
        if marked:
            return Steps("markers", f"a step is what the program marked as {name!r}", marked)
    own = {_owner(device): _device_steps(device) for device in devices if device.steps}
    if own:
        return Steps("profiler", "a step is what the profiler grouped by its number, on each device", own)
    programs = {_owner(device): ran for device in devices if (ran := _repeated_program(device))}
    if programs:
        name = next(iter(programs.values()))[0]
        words = f"no step is marked: a step is from one run of the program {name} on a device to the next"
        return Steps("repeated program", words, {owner: steps for owner, (_, steps) in programs.items()})
    called = {Owner(host.host): call for host in hosts if (call := _repeated_call(host)) is not None}
    if called:
        name = Counter(name for name, _ in called.values()).most_common(1)[0][0]
        words = f"no step is marked: a step is from one call of {name} to the next, which repeat"
        return Steps("repeated call", words, {owner: steps for owner, (each, steps) in called.items() if each == name})
    repeated = {_owner(device): found for device in devices if (found := _repeated_kernels(device))}
    if repeated:
        kernel = next(iter(repeated.values()))[0]
        words = f"no step is marked: a step is one round of the kernels that repeat, from {kernel} on"
        return Steps("repeated kernels", words, {owner: steps for owner, (_, steps) in repeated.items()})
    return Steps("none", "the trace marks no steps, and nothing in it repeats as steps do")


def _owner(device: Activity) -> Owner:
    return Owner(device.host, device.short_name)


def _marked(host: HostActivity, name: str) -> tuple[Step, ...]:
    """Markers of this name on one host; the outermost where they stand within each other."""
    steps: list[Step] = []
    for number, _, begin, end in sorted((m for m in host.markers if m[1] == name), key=lambda m: (m[2], -m[3])):
        if end > begin and (not steps or begin >= steps[-1].end):
            steps.append(Step(number, begin, end))
    return tuple(steps)


def _device_steps(device: Activity) -> tuple[Step, ...]:
    """Return the steps that the device's own trace marks."""
    steps = []
    for index, (name, begin, end) in enumerate(device.steps):
        steps.append(Step(int(name) if name.isdecimal() and len(name) < 19 else index, begin, end))
    return tuple(steps)


def _repeated_program(device: Activity) -> tuple[str, tuple[Step, ...]] | None:
    """Return the program of XLA that ran again and again on the device for most of its time: a host may call it far
    ahead."""
    took: Counter[str] = Counter()
    for name, begin, end in device.modules:
        took[name] += end - begin
    for name, time in took.most_common(1):
        runs = [(begin, end) for each, begin, end in device.modules if each == name]
        if len(runs) >= _MIN_REPEATS and time >= _MIN_COVER * (int(device.end.max()) - int(device.begin[0])):
            return name.partition("(")[0], _turns(runs)
    return None


def _turns(runs: Sequence[tuple[int, int]]) -> tuple[Step, ...]:
    """From the begin of each to that of the next one."""
    ends = [begin for begin, _ in runs[1:]] + [runs[-1][1]]
    return tuple(Step(n, begin, end) for n, ((begin, _), end) in enumerate(zip(runs, ends, strict=True)))


def _repeated_call(host: HostActivity) -> tuple[str, tuple[Step, ...]] | None:
    """Return the function that is called again and again for most of the time, outermost calls only."""
    if host.first is None:
        return None
    found: list[tuple[int, str, list[tuple[int, int]]]] = []
    for name, calls in host.calls.items():
        outer: list[tuple[int, int]] = []
        for begin, end in sorted(calls, key=lambda call: (call[0], -call[1])):
            if end > begin and (not outer or begin >= outer[-1][1]):
                outer.append((begin, end))
        if len(outer) >= _MIN_REPEATS:
            cover = outer[-1][1] - outer[0][0]
            if cover >= _MIN_COVER * (host.last - host.first):
                found.append((cover, name, outer))
    if not found:
        return None
    longest = max(cover for cover, _, _ in found)
    # Among several names of the same calls, the one that says which function it is.
    _, name, calls = max(
        (each for each in found if each[0] >= _SAME_CALLS * longest),
        key=lambda each: (not each[1].startswith("FunctionRun"), each[0]),
    )
    words = name.partition("(")[2].rstrip(")") or name.removeprefix("EagerLocalExecute: ")
    return _INFERENCE.sub(r"\1", words), _turns(calls)


def _repeated_kernels(device: Activity) -> tuple[str, tuple[Step, ...]] | None:
    """Kernels that all run equally often, round by round: the count that covers most of the device's time tells."""
    counts = np.bincount(device.label, minlength=len(device.labels))
    own = np.bincount(device.label, weights=device.own_ps.astype(np.float64), minlength=len(device.labels))
    by_count: Counter[int] = Counter()
    for count, time, label in zip(counts.tolist(), own.tolist(), device.labels, strict=True):
        if count >= _MIN_REPEATS and not label.is_copy:
            by_count[count] += int(time)
    if not by_count:
        return None
    runs_in_step = by_count.most_common(1)[0][0]
    members = {
        number: np.flatnonzero(device.label == number)
        for number, count in enumerate(counts.tolist())
        if count == runs_in_step and not device.labels[number].is_copy
    }
    anchor = min(members, key=lambda number: int(members[number][0]))
    begins = device.begin[members[anchor]]
    regular = sum(
        bool(
            (
                np.bincount(np.searchsorted(begins, device.begin[events], side="right"), minlength=runs_in_step + 1)[1:]
                == 1
            ).all()
        )
        for events in members.values()
    )
    if regular < _MIN_REGULAR * len(members):
        return None
    last = max(int(device.end[events[-1]]) for events in members.values())
    ends = [*begins[1:].tolist(), last]
    return device.labels[anchor].kernel, tuple(
        Step(number, begin, end) for number, (begin, end) in enumerate(zip(begins.tolist(), ends, strict=True))
    )
