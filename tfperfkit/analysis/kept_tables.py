"""Parts of a report next to its summary, kept in the run directory for tables of many runs: the probes' tables, the
account of the run and of works, windows, notes, headroom.

The probes' own records are not in it: these are in the JSON report.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from tfperfkit.model import Finding, Report, Table, WindowSummary
from tfperfkit.records import stated_gains
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import RunDirectory

FILE = "tables.json"
SCHEMA = 1


class ProbeTables(msgspec.Struct, frozen=True, kw_only=True):
    """A probe's section: its tables, with the lines above them."""

    name: str
    status: str
    reason: str | None = None
    summary: str = ""
    tables: tuple[Table, ...] = ()


class KeptTables(msgspec.Struct, frozen=True, kw_only=True):
    """``run_parts_s``: of the whole run; ``work_parts_ms``: by the place of a work, of its mean iteration."""

    schema: int
    probes: tuple[ProbeTables, ...] = ()
    run_parts_s: dict[str, float] = {}
    work_parts_ms: dict[str, dict[str, float]] = {}
    windows: tuple[WindowSummary, ...] = ()
    notes: tuple[str, ...] = ()
    headroom: tuple[Finding, ...] = ()


def kept(report: Report) -> KeptTables:
    """Return the kept tables of a finished run."""
    account = report.run_account
    return KeptTables(
        schema=SCHEMA,
        probes=tuple(
            ProbeTables(
                name=each.name, status=each.status, reason=each.reason, summary=each.summary, tables=each.tables
            )
            for each in report.probes
        ),
        run_parts_s={str(part): s for part, s in account.parts_s.items()} if account is not None else {},
        work_parts_ms={work.name: dict(work.steps.breakdown_ms) for work in report.work if work.steps.breakdown_ms},
        windows=report.windows,
        notes=report.notes,
        headroom=report.headroom,
    )


def write(run: RunDirectory, report: Report) -> None:
    """Silent where that can't be done: the report has been given."""
    with contextlib.suppress(Exception):
        run.write_json(FILE, stated_gains.state(msgspec.to_builtins(kept(report), str_keys=True)))


def read(folder: Path) -> KeptTables | None:
    """None if there are none, or they are damaged or of another version."""
    raw = safe_reader.read_json(folder, FILE)
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        return None
    try:
        return msgspec.convert(stated_gains.read(raw), KeptTables)
    except msgspec.ValidationError:
        return None
