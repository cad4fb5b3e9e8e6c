"""Times to steps: which samples belong to the steady phase, and at which step each was taken."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence

from tfperfkit.records.steps import Step, StepTable
from tfperfkit_probes.memory.model import Sample

#: TensorFlow's allocators and the C heap go on growing for some steps after the warm-up; that is not a leak. This
#: part of the steps after it is left out, and this many steps at least (half of them at most).
_SETTLING_PART, _SETTLING_STEPS = 0.2, 20
_STEADY = ("clean", "settle")


class Phases:
    """The steps of a run by time. ``steady`` are those after the warm-up, settling left out, in any window;
    ``clean`` those of them in which no probe had a window."""

    def __init__(self, table: StepTable) -> None:
        self._table, self._steps = table, table.steps
        self._begins = [step.begin_ns for step in table.steps]
        after = [step for step in table.steps if step.window != "warmup"]
        leave = max(int(len(after) * _SETTLING_PART), min(_SETTLING_STEPS, len(after) // 2))
        self.warm_ns = after[0].begin_ns if after else None
        self.steady: Sequence[Step] = after[leave:]
        self.clean = [step for step in self.steady if step.window in _STEADY]
        self.begin_ns = self.steady[0].begin_ns if self.steady else None
        self.end_ns = self.steady[-1].end_ns if self.steady else None

    @property
    def training_ns(self) -> int:
        """The time of the steps after the warm-up in which nothing invasive ran."""
        return sum(step.end_ns - step.begin_ns for step in self._steps if step.window in _STEADY)

    def step_at(self, ns: int) -> Step | None:
        """The step that had begun last at a time."""
        index = bisect.bisect_right(self._begins, ns) - 1
        return self._steps[index] if index >= 0 else None

    def number_at(self, ns: int) -> int:
        step = self.step_at(ns)
        return step.number if step else 0

    def boundaries(self, samples: Iterable[Sample]) -> list[tuple[float, float]]:
        """(step, own bytes) for the samples at the beginnings of steady steps in which nothing invasive ran."""
        if self.begin_ns is None or self.end_ns is None:
            return []
        found = []
        for sample in samples:
            if sample.at_boundary and self.begin_ns <= sample.ns <= self.end_ns:
                step = self.step_at(self._table.past_pause(sample.ns))
                if step is not None and step.window in _STEADY:
                    found.append((float(step.number), float(sample.own_bytes)))
        return found
