"""The recording half of ``memory``: samples of the resident memory, and now and then a look at what grows."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from tfperfkit.clock import NS_PER_MS, NS_PER_S, now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.graphs import tracing
from tfperfkit.instruments.memory import process
from tfperfkit.instruments.memory.containers import Containers
from tfperfkit.instruments.memory.gc import Collections
from tfperfkit.instruments.memory.live_objects import LiveGraphs, LiveVariables, Place, default_graph
from tfperfkit.instruments.stacks.pulse import Pulse
from tfperfkit.probe import Recording
from tfperfkit.records.memory import Container
from tfperfkit_probes.memory.model import (
    FACTS,
    GC,
    GPUS,
    LENGTHS,
    LIVE,
    LOOKS,
    NAMES,
    RSS,
    Facts,
    GpuRecord,
    LengthRecord,
    LiveRecord,
    LookRecord,
    NameRecord,
    Sample,
)
from tfperfkit_probes.traced_function import definition

#: Samples by the thread: 20 a second for half a minute, then one for each 1/600 of the run's age, at least one a
#: minute. So a run of a day has some 5,500.
_THREAD_NS, _THREAD_PART, _THREAD_MAX_NS = 50 * NS_PER_MS, 600, 60 * NS_PER_S
#: Samples as steps begin: not before this long after the last one, or 1/1200 of the run's age.
_STEP_NS, _STEP_PART = 10 * NS_PER_MS, 1200
#: A look at the containers comes after half as many steps again, and never makes all looks together take more than
#: this part of the time since recording began. The first ones fall into the warm-up.
_LOOK_FACTOR, _LOOK_PART = 1.4, 200
_GPU_NS = NS_PER_S // 2
_MAX_NAMES = 500


class Recorder:
    """Records from ``start`` to ``stop``. ``step_begins`` is for ``Recording.on_step``."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._resident = process.Resident()
        self._pid = os.getpid()
        self._begin = now_ns()
        self._next_sample = self._next_gpu = 0
        self._next_look = 2
        self._looks_ns = self._callback_ns = 0
        self._looks = self._counted_ns = self._longest_look = 0
        self._containers = Containers(recording.is_user_code)
        self._graphs = LiveGraphs(_place)
        self._variables = LiveVariables(recording.is_user_code)
        self._collections = Collections(self._append_collection)
        self._pulse = Pulse(self._tick)
        self._undo: list[Any] = []
        self._lengths: dict[tuple[str, str, str, str], tuple[int, int]] = {}  # key: (ns of the look, length)
        self._names: dict[tuple[str, str, str, str], int] = {}
        self._live: dict[tuple[str, Any], tuple[int, int]] = {}
        self._said: set[str] = set()

    # --- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        if self._resident.only_peak:
            self._say("this system tells the highest resident memory only, not the present one: no growth is seen")
        self._recording.append(FACTS, Facts(limits=process.limits(), only_peak=self._resident.only_peak))
        self._sample(now_ns(), False)
        try:
            self._undo.append(tracing.subscribe(self._graphs))
        except Unavailable as reason:
            self._say(f"graphs are not counted: {reason}")
        try:
            self._variables.install()
            self._undo.append(self._variables.restore)
        except Unavailable as reason:
            self._say(str(reason))
        self._collections.install()
        self._recording.on_step(self.step_begins, rarely=True)
        self._pulse.start()

    def stop(self) -> None:
        self._pulse.stop()
        self._collections.restore()
        for undo in self._undo:
            undo()
        if os.getpid() != self._pid:
            return
        self._sample(now_ns(), False)
        self._recording.append(
            FACTS,
            Facts(
                limits=process.limits(),
                only_peak=self._resident.only_peak,
                ended=True,
                gc_count=_three(self._collections.count),
                gc_ns=_three(self._collections.spent_ns),
                looks_ns=self._looks_ns,
                callback_ns=self._callback_ns,
            ),
        )
        self._resident.close()

    def _append_collection(self, row: Any) -> None:
        self._recording.append(GC, row)

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._recording.note(text)

    # --- samples ------------------------------------------------------------------------------------------------

    def _sample(self, now: int, at_boundary: bool) -> None:
        rss, own, peak, virtual = self._resident.read()
        self._recording.append(RSS, Sample(now, at_boundary, rss, own, peak, virtual))

    def _tick(self) -> float:
        now = now_ns()
        self._sample(now, False)
        return min(max(_THREAD_NS, (now - self._begin) // _THREAD_PART), _THREAD_MAX_NS) / NS_PER_S

    def step_begins(self, number: int) -> None:
        """On the training thread, before each step from the second on."""
        now = now_ns()
        if now < self._next_sample and number < self._next_look:
            return
        if os.getpid() != self._pid:
            return
        if now >= self._next_sample:
            self._next_sample = now + max(_STEP_NS, (now - self._begin) // _STEP_PART)
            self._sample(now, True)
        if now >= self._next_gpu:
            self._next_gpu = now + _GPU_NS
            self._read_gpus(now)
        if number >= self._next_look and self._may_look(now):
            self._next_look = max(number + 1, int(number * _LOOK_FACTOR))
            self._look(now)
        self._callback_ns += now_ns() - now

    def _read_gpus(self, now: int) -> None:
        try:
            for device, current, peak in process.gpu_memory():
                self._recording.append(GPUS, GpuRecord(now, device, current, peak))
        except Exception as error:
            self._next_gpu = 1 << 63
            self._say(f"the memory of the GPUs could not be read ({type(error).__name__}: {error})")

    # --- looks --------------------------------------------------------------------------------------------------

    def _may_look(self, now: int) -> bool:
        return (self._counted_ns + self._longest_look) * _LOOK_PART <= now - self._begin

    def _look(self, now: int) -> None:
        collected_ns = sum(self._collections.spent_ns)
        look = self._containers.look(sys._getframe(1))
        for container in look.containers:
            self._compare(container, now)
        self._count_live(now)
        # A collection that happens to fall into a look would have come a moment later without it.
        took = now_ns() - now - (sum(self._collections.spent_ns) - collected_ns)
        if self._looks:  # the first one meets every module for the first time, in the warm-up
            self._counted_ns += took
            self._longest_look = max(self._longest_look, took)
        self._looks += 1
        self._looks_ns += took
        self._recording.append(
            LOOKS,
            LookRecord(
                now,
                took,
                look.complete,
                len(look.containers),
                look.skipped,
                sys.getallocatedblocks(),
            ),
        )

    def _compare(self, container: Container, now: int) -> None:
        """Write the length if it is another one than at the look before; a name at its first change."""
        key = container.key
        before = self._lengths.get(key)
        self._lengths[key] = (now, container.length)
        if before is None or before[1] == container.length:
            return
        number = self._names.get(key)
        if number is None:
            if len(self._names) >= _MAX_NAMES:
                self._say(f"only the first {_MAX_NAMES} containers that change their length are followed")
                return
            number = self._names[key] = len(self._names) + 1
            self._recording.append(
                NAMES,
                NameRecord(
                    number,
                    container.name,
                    container.kind,
                    container.file,
                    container.function,
                    container.line,
                ),
            )
            self._recording.append(LENGTHS, LengthRecord(number, before[0], before[1]))
            self._recording.keep_source(container.file)
        self._recording.append(
            LENGTHS,
            LengthRecord(
                number,
                now,
                container.length,
                container.element,
                container.element_bytes,
            ),
        )

    def _count_live(self, now: int) -> None:
        rows: list[tuple[str, tuple[str, int, str], int, int]] = []
        rows += [("graphs", place, *count) for place, count in self._graphs.count().items()]
        rows += [("variables", place, *count) for place, count in self._variables.count().items()]
        graph = default_graph()
        if graph is not None:
            rows.append(("default graph", ("", 0, ""), 1, int(graph.num_operations())))
        for kind, place, count, size in rows:
            if self._live.get((kind, place)) != (count, size):
                self._live[kind, place] = (count, size)
                self._recording.append(LIVE, LiveRecord(kind, now, *place, count, size))
                if self._recording.is_user_code(place[0]):
                    self._recording.keep_source(place[0])


def _place(traced: tracing.Traced) -> Place:
    function = traced.python_function
    if traced.function is not None:
        function = getattr(traced.function, "python_function", function)
    found = definition(function, str(getattr(traced.tracing_options, "name", "")))
    return found.file, found.line, found.function


def _three(values: list[int]) -> tuple[int, int, int]:
    return values[0], values[1], values[2]


@contextlib.contextmanager
def recorded(recording: Recording) -> Iterator[None]:
    """Raises ``Unavailable`` on a system that does not tell the memory of a process."""
    recorder = Recorder(recording)
    recorder.start()
    try:
        yield
    finally:
        recorder.stop()
