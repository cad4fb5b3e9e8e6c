"""What the session gives to a probe's ``record``: the Recording of the contract, over the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

from tfperfkit.instruments.interrupts import words_of
from tfperfkit.probe import HotFunction

if TYPE_CHECKING:
    from tfperfkit.session import Session


class SessionRecording:
    """See ``tfperfkit.probe.Recording`` for the contract of each member."""

    def __init__(self, session: Session, probe: str, planned_steps: int | None) -> None:
        self._session = session
        self._probe = probe
        self._planned = planned_steps
        self._callbacks: list[Callable[[int], bool | None]] = []
        self._each = self._again = False  # a callback wants every step; one wants the next
        self.rare = False  # a callback wants a step now and then

    @property
    def directory(self) -> Path:
        return self._session.run.probe(self._probe)

    @property
    def trace_dir(self) -> Path:
        return self._session.run.trace

    @property
    def options(self) -> Mapping[str, Any]:
        return self._session.manifest.options.get(self._probe, {})

    @property
    def step(self) -> int:
        return self._session.step

    @property
    def planned_steps(self) -> int | None:
        return self._planned

    def append(self, stream: str, record: Any) -> None:
        self._session.streams.writer(f"probes/{self._probe}/{os.path.basename(stream)}.jsonl").append(record)

    def on_step(self, callback: Callable[[int], bool | None], *, rarely: bool = False) -> None:
        self._callbacks.append(callback)
        self.rare = self.rare or rarely
        self._each = self._each or not rarely

    def when_keras(self, callback: Callable[[], object]) -> None:
        self._session.when_keras(callback)

    @property
    def follows(self) -> bool:
        """Whether the probe must be told of the next step."""
        return bool(self._callbacks) and (self._each or self._again)

    def announce(self, number: int) -> None:
        """A step begins: tell the probe. What it raises is its own failure, never the script's."""
        self._again = False
        for callback in self._callbacks:
            try:
                self._again = bool(callback(number)) or self._again
            except (Exception, SystemExit) as error:
                self._callbacks.clear()
                self.note(f"stopped following the steps: {words_of(error)}")
                return

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
