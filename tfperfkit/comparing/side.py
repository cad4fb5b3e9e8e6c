"""One of the runs that are compared: a run folder, or a JSON report, which holds less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfperfkit.analysis.analyze import study
from tfperfkit.analysis.processor_time import step_times
from tfperfkit.config import find_run
from tfperfkit.errors import RunDirectoryError, TfperfError
from tfperfkit.model import Report
from tfperfkit.report.json import decode
from tfperfkit.rule import Evidence
from tfperfkit.storage.run_directory import RunDirectory

_MAX_BYTES = 500_000_000


class Side:
    """A run with its known facts. ``evidence`` is None of a JSON report: it has no single steps, sources, lines."""

    def __init__(
        self,
        name: str,
        report: Report,
        evidence: Evidence | None = None,
        machine: str = "",
        processor_ms: Sequence[float] = (),
    ) -> None:
        self.name = name
        self.report = report
        self.evidence = evidence
        self.machine = machine  # the host's name, and a mark of its start
        self.processor_ms = processor_ms  # of the clean steps in order, as far as it was noted
        self._called: tuple[str, str] | None = None

    @property
    def step_ms(self) -> list[float]:
        """Return the times of the clean steps in order; empty where they are not known."""
        if self.evidence is None:
            return []
        steps = self.evidence.steps
        return [step.duration_ns / 1e6 for step in steps.clean for _ in range(min(step.count, 1000))]

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """Return the user's files as they were, by their path from the script's folder."""
        if self.evidence is None:
            return {}
        return {self.relative(file): self.evidence.source(file) for file in self.evidence.files()}

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return how TensorFlow was set: precision, threads, XLA."""
        return self.evidence.settings if self.evidence is not None else {}

    def relative(self, file: str) -> str:
        """Return a file's path from the script's folder, so that the same file of two checkouts is the same."""
        folder = self.report.run.folder.rstrip("/") + "/"
        short = file[len(folder) :] if len(folder) > 1 and file.startswith(folder) else file
        return self._called[1] if self._called is not None and short == self._called[0] else short

    @property
    def script(self) -> str:
        """Return the script from its own folder; "" for a module, or where it is not known."""
        first = self.report.run.argv[0] if self.report.run.argv else ""
        return first.replace("\\", "/").rpartition("/")[2] if first.endswith(".py") else ""

    def call_script(self, name: str) -> None:
        """The script under another name: a copy that was edited (train.py and train2.py) is the same script."""
        if self.script and name and name != self.script and name not in self.sources:
            self._called = (self.script, name)


def load(name: str) -> Side:
    """Load a run by its folder, name, ``last``, or the file of a JSON report; raises TfperfError for what is none of
    them."""
    path = Path(name)
    if name != "last" and path.is_file():
        return Side(name, _from_json(path))
    folder = find_run(name)
    if not folder.exists():
        raise RunDirectoryError(f"no such run: {name}; give a run's folder, its name, last, or a JSON report")
    report, evidence = study(folder)
    run = RunDirectory.open(folder)[0]
    agent = run.read_json("agent.json")
    machine = agent.get("machine") if isinstance(agent, dict) else None
    used = step_times(run.records("session/processor.jsonl"), evidence.steps).processor
    return Side(name, report, evidence, str(machine or ""), used)


def _from_json(path: Path) -> Report:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise TfperfError(f"{path} is too large for a report")
        return decode(path.read_bytes())
    except TfperfError as error:
        raise TfperfError(f"{path}: {error}") from error
    except OSError as error:
        raise TfperfError(f"can't read {path}: {error.strerror}") from error
