"""Cutting the stream of markers into steps, under a definition of what a step is (``steps``). Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.records.steps import PAUSE, Definition, Marker, Step, StepCounter


class StepCutter:
    """Cuts a stream of markers into steps under one definition."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._closing = definition.closing if definition.begins else definition.ends
        self._closed_at_once = False  # the last update; then the next step has begun with its end
        self.number = 1  # of the step that is open
        self._begin: int | None = None
        self._last_end = 0
        self._count = 0
        self._input = 0

    def feed(self, marker: Marker, is_fetch: bool) -> Step | None:
        """Return the step that this marker completed, if any."""
        ends = marker.site in self._definition.ends
        begins = marker.site in self._definition.begins
        if marker.site == PAUSE:  # our own work between two steps, e.g. starting a profiler: part of neither
            step = self._close(marker.begin_ns)
            self._begin = marker.end_ns if self._closed_at_once and self._begin is not None else None
            return step
        if marker.steps == 0:  # the data or the epoch ended: what follows is outside of steps
            # Keras tells of an epoch's end after its validation; the last batch had ended before that.
            step = self._close(self._last_end if begins and ends else marker.begin_ns)
            self._begin = None
            return step
        step = None
        if begins:
            step = self._close(marker.begin_ns)
            if marker.site not in self._definition.rounds:
                self._begin = marker.begin_ns  # a batch fetched before this one led to no update: outside of steps
                self._input = 0
        if self._begin is None and (begins or ends or is_fetch):
            self._begin = marker.begin_ns
        if is_fetch:
            self._input += marker.end_ns - marker.begin_ns
        if ends:
            self._count = 1 if marker.site in self._definition.rounds else self._count + marker.steps
            self._last_end = marker.end_ns
            self._closed_at_once = marker.site in self._closing
            if self._closed_at_once:
                step = self._close(marker.end_ns)
        return step

    @property
    def complete(self) -> bool:
        """Return whether the open step holds its update already: the next beginning ends it."""
        return self._count > 0

    @property
    def next_number(self) -> int:
        """Return the number of the step that follows the open one."""
        return self.number + self._count

    def finish(self) -> Step | None:
        """Return the step that was complete but for its successor's beginning, when the stream ends."""
        return self._close(self._last_end)

    def _close(self, when_ns: int) -> Step | None:
        if not self._count or self._begin is None:
            return None
        step = Step(
            number=self.number,
            begin_ns=self._begin,
            end_ns=when_ns,
            count=self._count,
            input_ns=self._input,
        )
        self.number += self._count
        self._begin, self._count, self._input = when_ns, 0, 0
        return step


def cut(counter: StepCounter, markers: Iterable[Marker], definition: Definition) -> tuple[Step, ...]:
    """Cut all steps of a stream, under a definition from the whole stream."""
    cutter = StepCutter(definition)
    steps = []
    for marker in markers:
        site = counter.sites.get(marker.site)
        if site is None and marker.site != PAUSE:
            continue
        if step := cutter.feed(marker, site is not None and site.kind == "next"):
            steps.append(step)
    if step := cutter.finish():
        steps.append(step)
    return tuple(steps)
