"""Read a run directory: the files that the session wrote, once for all probes, and the part that each probe gets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tfperfkit.analysis.run_status import run_info
from tfperfkit.analysis.step_table import read_steps, read_windows
from tfperfkit.model import (
    RunInfo,
    WindowSummary,
)
from tfperfkit.option import effective
from tfperfkit.records.events import of_kind
from tfperfkit.records.steps import StepTable
from tfperfkit.storage.run_directory import Manifest, RunDirectory

#: More than any run has: each is looked at once for each probe, and the files may have been damaged.
_MAX_EVENTS = 20_000


class Facts:
    """Facts that the session wrote, read once for all probes."""

    def __init__(self, run: RunDirectory, manifest: Manifest) -> None:
        rows = (row for row in run.records("session/events.jsonl") if isinstance(row, dict) and "kind" in row)
        self.events: list[dict[str, Any]] = list(itertools.islice(rows, _MAX_EVENTS))
        self.events += list(of_kind(rows, "end"))[:1]
        self.windows = read_windows(self.events)
        self.steps: StepTable = read_steps(run, self.events, manifest.steps_from)
        self.sources: dict[str, tuple[str, ...]] = {}
        for row in run.records("sources.jsonl"):
            if isinstance(row, list) and len(row) == 2 and isinstance(row[1], list):
                self.sources[str(row[0])] = tuple(str(line) for line in row[1])


class StoredCapture:
    """See ``tfperfkit.probe.Capture`` for the contract of each member."""

    def __init__(
        self, run: RunDirectory, name: str, manifest: Manifest, info: RunInfo, facts: Facts, probe: object
    ) -> None:
        self._run = run
        self._name = name
        self._facts = facts
        self.options: Mapping[str, Any] = effective(probe, manifest.options.get(name, {}))
        self.gpu_required = manifest.require_gpu
        self.run = info
        self.steps = facts.steps
        self.directory = run.probe(name)
        self.trace_dir = run.trace
        self.window: WindowSummary | None = facts.windows.get(name)
        self.notes: tuple[str, ...] = tuple(
            event["text"] for event in of_kind(facts.events, "note") if event.get("probe") == name
        )

    def records(self, stream: str, probe: str = "") -> Iterator[Any]:
        return self._run.records(f"probes/{probe or self._name}/{Path(stream).name}.jsonl")

    def session_records(self, stream: str) -> Iterator[Any]:
        return self._run.records(f"session/{Path(stream).name}.jsonl")

    def source(self, filename: str) -> tuple[str, ...]:
        return self._facts.sources.get(filename, ())


class StoredRun:
    """A run directory with its steps and windows."""

    def __init__(self, run: RunDirectory, manifest: Manifest) -> None:
        self.directory = run
        self.manifest = manifest
        self._facts = Facts(run, manifest)
        self.steps = self._facts.steps
        self.events = self._facts.events
        self.agent = agent_facts(run, self.events)

    def capture(self, name: str, probe: object) -> StoredCapture:
        """Return the recorded data of the probe with this name."""
        info = run_info(self.directory, self.manifest, self.agent, self.events)
        return StoredCapture(self.directory, name, self.manifest, info, self._facts, probe)


def open_run(path: Path) -> StoredRun:
    """Return a run for whoever needs more than its report; raises RunDirectoryError."""
    run, manifest = RunDirectory.open(path)
    return StoredRun(run, manifest)


def agent_facts(run: RunDirectory, events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the facts that the script's process reported when TensorFlow was imported; empty if it never was."""
    recorded = next((event.get("facts") for event in of_kind(events, "agent")), None)
    for facts in (run.read_json("agent.json"), recorded):
        if isinstance(facts, dict):
            return facts
    return {}


class Beginning(NamedTuple):
    """Moments in ns of ``clock.now_ns``. ``process``: the interpreter had started. ``importing``: the import of
    TensorFlow began; None if not seen. ``armed``: the import had ended, and recording began."""

    process: int
    importing: int | None
    armed: int


def beginning(agent: Mapping[str, Any], started_ns: int) -> Beginning | None:
    """Read the moments that the script's process noted; None if TensorFlow was not imported. ``started_ns``: when the
    parent started the script."""
    process, armed, begun, ended = (
        agent.get(name) for name in ("process_ns", "armed_ns", "import_begin_ns", "import_end_ns")
    )
    if not isinstance(armed, int):
        return None
    start = process if isinstance(process, int) else min(started_ns, armed)
    seen = isinstance(begun, int) and isinstance(ended, int) and start <= begun <= ended
    return Beginning(start, begun if seen else None, armed)
