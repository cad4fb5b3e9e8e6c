"""Part of the session that those who run the probes use: no more of the session than this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tfperfkit.instruments.graphs.sources import GraphSources
from tfperfkit.instruments.stacks.sampler import Sampler
from tfperfkit.model import WindowPhase
from tfperfkit.records.events import EventKind
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_set import Streams
from tfperfkit.user_code import Origin


class SessionPort(Protocol):
    """A session, as its probes and what runs them see it."""

    run: RunDirectory
    manifest: Manifest
    streams: Streams
    origin: Origin
    sampler: Sampler
    graphs: GraphSources

    @property
    def step(self) -> int:
        """Return the number of the step that runs, from 1; 0 before the first."""

    def event(self, kind: EventKind, **fields: Any) -> None:
        """Append to the session's events."""

    def keep_source(self, filename: str) -> None:
        """Copy a source file into the run directory, once."""

    def when_keras(self, callback: Callable[[], object]) -> None:
        """Call it once Keras is there; at once if it is."""

    def be_quiet(self, quiet: bool) -> None:
        """Whether nobody has to hear of a step as it begins."""

    def window_phase(self, probe: str, phase: WindowPhase, whole: bool = False) -> None:
        """Write down at once the phase that a window (of the ``whole`` run) is about to begin, or has finished."""

    def window_ended(self, closing: int) -> None:
        """Note that a probe's window is over, since ``closing`` (ns)."""
