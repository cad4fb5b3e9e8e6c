"""Argument of a probe's ``record``: the Recording of the contract, over the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from tfperfkit.instruments.hooks.interrupts import words_of
from tfperfkit.probe import FollowedGraphs, HotFunction
from tfperfkit.recording.port import SessionPort
from tfperfkit.records.step_callbacks import StepCallbacks


class SessionRecording:
    """See ``tfperfkit.probe.Recording`` for the contract of each member."""

    def __init__(
        self,
        session: SessionPort,
        probe: str,
        planned_steps: int | None,
        options: Mapping[str, Any],
        *,
        after_steps: bool = False,
    ) -> None:
        self._session = session
        self._probe = probe
        self._planned = planned_steps
        self._options = options
        self._after_steps = after_steps
        self.steps = StepCallbacks(self._stopped)

    @property
    def directory(self) -> Path:
        return self._session.run.probe(self._probe)

    @property
    def trace_dir(self) -> Path:
        return self._session.run.trace

    @property
    def options(self) -> Mapping[str, Any]:
        return self._options

    @property
    def step(self) -> int:
        return 0 if self._after_steps else self._session.step

    @property
    def planned_steps(self) -> int | None:
        return self._planned

    @property
    def asked(self) -> bool:
        return self._probe in self._session.manifest.windows

    def append(self, stream: str, record: Any) -> None:
        self._session.streams.stream(f"probes/{self._probe}/{os.path.basename(stream)}").append(record)

    def on_step(self, callback: Callable[[int], bool | None], *, rarely: bool = False) -> None:
        self.steps.add(callback, rarely=rarely)

    def when_keras(self, callback: Callable[[], object]) -> None:
        self._session.when_keras(callback)

    def follow_graphs(
        self,
        listener: Callable[[Mapping[str, str], Any, int], None] | None = None,
        every_line: Callable[[Any], bool] | None = None,
    ) -> FollowedGraphs:
        return self._session.graphs.follow(listener, every_line)

    def _stopped(self, error: BaseException) -> None:
        """Note that a callback of the probe raised: its own failure, never the script's."""
        text = f"stopped following the steps: {words_of(error)}"
        self._session.event("note", probe=self._probe, text=text, stopped=True)

    def is_user_code(self, filename: str) -> bool:
        return self._session.origin.is_user(filename)

    def hot_functions(self) -> tuple[HotFunction, ...]:
        sampler = self._session.sampler
        total = max(sampler.samples, 1)
        hits = sampler.hits()
        steady = [HotFunction(*key, count / total) for key, count in hits.most_common()]
        # A few fast steps give few samples: what was hot before them may be hot in them too.
        earlier = [HotFunction(*key, 0.0) for key, _ in sampler.earlier().most_common() if key not in hits]
        return (*steady, *earlier)

    def code(self, function: HotFunction) -> CodeType | None:
        return self._session.sampler.codes.get((function.file, function.line, function.function))

    def keep_source(self, filename: str) -> None:
        self._session.keep_source(filename)

    def note(self, text: str) -> None:
        self._session.event("note", probe=self._probe, text=text)
