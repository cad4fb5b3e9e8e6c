"""Summary of a run for lists of many runs: a small file in the run directory, written with its report."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from tfperfkit.analysis import kept_tables
from tfperfkit.model import Finding, Report
from tfperfkit.records import stated_gains
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import Manifest, RunDirectory

FILE = "summary.json"
SCHEMA = 1


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. ``wall_s`` from the start of the process to its end; ``parts_ms`` of the mean step."""

    schema: int
    argv: tuple[str, ...]
    cwd: str
    started_wall_s: float
    status: str
    exit_code: int | None = None
    wall_s: float = 0.0
    steps: int = 0
    step_ms: float | None = None
    p90_ms: float | None = None
    examples_per_s: float | None = None
    headline: str = ""
    parts_ms: dict[str, float] = {}
    findings: tuple[Finding, ...] = ()
    versions: dict[str, str] = {}


def summarise(report: Report, manifest: Manifest) -> RunSummary:
    """Return the summary of a finished run."""
    account = report.steps.account
    return RunSummary(
        schema=SCHEMA,
        argv=tuple(manifest.argv),
        cwd=manifest.cwd,
        started_wall_s=manifest.started_wall_s,
        status=report.run.status,
        exit_code=report.run.exit_code,
        wall_s=report.run.wall_s,
        steps=report.steps.count,
        step_ms=report.steps.median_ms,
        p90_ms=report.steps.p90_ms,
        examples_per_s=report.steps.examples_per_s,
        headline=report.headline,
        parts_ms={str(part): ms for part, ms in account.parts_ms.items()} if account is not None else {},
        findings=report.findings,
        versions=dict(report.run.versions),
    )


def write(folder: Path, report: Report) -> None:
    """Keep the summary of a run that has ended, and its tables; silent where that can't be done: the report has been
    given."""
    if report.run.status in ("running", "unknown"):
        return
    with contextlib.suppress(Exception):
        run, manifest = RunDirectory.open(folder)
        run.write_json(FILE, stated_gains.state(msgspec.to_builtins(summarise(report, manifest))))
        kept_tables.write(run, report)


def read(folder: Path) -> RunSummary | None:
    """Return the summary in a run directory; None if there is none, or it is damaged or of another version."""
    raw = safe_reader.read_json(folder, FILE)
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        return None
    try:
        return msgspec.convert(stated_gains.read(raw), RunSummary)
    except msgspec.ValidationError:
        return None
