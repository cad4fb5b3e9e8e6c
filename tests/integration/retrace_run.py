"""Shared parts of the causes of retraces: a recording for each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tfperfkit import clock
from tfperfkit.records.steps import Step
from tfperfkit.testing import FakeRecording

CAUSES: list[Callable[[Run], None]] = []


class Run:
    """A recording, and the steps that the cause's loop makes."""

    def __init__(self, folder: Path) -> None:
        self.recording = FakeRecording(folder)
        self.steps: list[Step] = []
        self.facts: dict[str, object] = {}

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        number = len(self.steps) + 1
        self.recording.begin_step(number)
        begin = clock.now_ns()
        yield
        time.sleep(0.001)
        window = "warmup" if number <= 2 else "clean"
        self.steps.append(Step(number, begin, clock.now_ns(), window=window))


def cause(function: Callable[[Run], None]) -> Callable[[Run], None]:
    CAUSES.append(function)
    return function
