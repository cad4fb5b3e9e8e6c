"""The reports of many runs as tables, in DuckDB: to be asked by SQL, or written as Parquet."""

from __future__ import annotations

import itertools
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.analysis import kept_tables, summary
from tfperfkit.errors import UsageError
from tfperfkit.model import Table
from tfperfkit.runs import listing

#: Columns of each table. Times are in ms where the name says so; ``run`` is the name of the run.
TABLES = {
    "runs": (
        "run VARCHAR, script VARCHAR, argv VARCHAR, cwd VARCHAR, started TIMESTAMP, status VARCHAR, exit_code INTEGER, "
        "wall_s DOUBLE, steps BIGINT, step_ms DOUBLE, p90_ms DOUBLE, examples_per_s DOUBLE, headline VARCHAR, "
        "tensorflow VARCHAR, python VARCHAR"
    ),
    "findings": (
        "run VARCHAR, rank INTEGER, code VARCHAR, family VARCHAR, severity VARCHAR, title VARCHAR, share DOUBLE, "
        "speedup DOUBLE, file VARCHAR, line BIGINT, advice VARCHAR"
    ),
    "evidence": (
        "run VARCHAR, rank INTEGER, code VARCHAR, name VARCHAR, value DOUBLE, unit VARCHAR, measured_in VARCHAR"
    ),
    "places": "run VARCHAR, rank INTEGER, code VARCHAR, number INTEGER, file VARCHAR, line BIGINT, function VARCHAR",
    "headroom": (
        "run VARCHAR, rank INTEGER, code VARCHAR, title VARCHAR, speedup DOUBLE, file VARCHAR, line BIGINT, "
        "advice VARCHAR"
    ),
    "parts": "run VARCHAR, part VARCHAR, ms DOUBLE",
    "run_parts": "run VARCHAR, part VARCHAR, s DOUBLE",
    "work_parts": "run VARCHAR, work VARCHAR, part VARCHAR, ms DOUBLE",
    "windows": ("run VARCHAR, probe VARCHAR, first_step BIGINT, steps BIGINT, status VARCHAR, reason VARCHAR"),
    "notes": "run VARCHAR, note VARCHAR",
    "probes": "run VARCHAR, probe VARCHAR, status VARCHAR, reason VARCHAR, summary VARCHAR",
    # Cells of all tables of all probes, somebody else's too: a row for each cell.
    "cells": (
        "run VARCHAR, probe VARCHAR, title VARCHAR, row BIGINT, name VARCHAR, unit VARCHAR, number DOUBLE, text VARCHAR"
    ),
}


def connect(folder: Path) -> Any:
    """Make a database in memory with the tables of all runs that have a summary. Raises UsageError without DuckDB."""
    try:
        import duckdb
    except ImportError:
        raise UsageError("this needs DuckDB: pip install 'tfperfkit[sql]'") from None
    database = duckdb.connect(":memory:")
    with tempfile.TemporaryDirectory(prefix="tfperf-runs-") as place:
        files = {name: Path(place) / f"{name}.json" for name in TABLES}
        with ExitStack() as stack:
            written = {name: stack.enter_context(file.open("wb")) for name, file in files.items()}
            for name in listing.names(folder):
                found = summary.read(folder / name)
                rows = itertools.chain(_table_rows(name, found), _kept(folder, name)) if found is not None else ()
                for table, values in rows:
                    written[table].write(msgspec.json.encode(dict(zip(_columns(table), values, strict=True))) + b"\n")
        for name, columns in TABLES.items():
            database.execute(f"CREATE TABLE {name} ({columns})").fetchall()
            if files[name].stat().st_size:
                kinds = ", ".join(f"{column}: '{kind}'" for column, kind in _kinds(name))
                options = f"format = 'newline_delimited', columns = {{{kinds}}}"
                statement = f"INSERT INTO {name} SELECT * FROM read_json('{_quoted(files[name])}', {options})"
                database.execute(statement).fetchall()
    return database


def _kinds(table: str) -> list[tuple[str, str]]:
    return [(column, kind) for column, _, kind in (each.partition(" ") for each in TABLES[table].split(", "))]


def _columns(table: str) -> list[str]:
    return [column for column, _ in _kinds(table)]


def _quoted(file: Path) -> str:
    return str(file).replace("'", "''")


def _table_rows(run: str, found: summary.RunSummary) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the rows of a run for the tables."""
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(min(max(found.started_wall_s, 0.0), 1e11)))
    script = next(iter(found.argv), "").rpartition("/")[2]
    versions = found.versions
    yield (
        "runs",
        (
            run, script, " ".join(found.argv), found.cwd, started, found.status, found.exit_code, found.wall_s,
            found.steps, found.step_ms, found.p90_ms, found.examples_per_s, found.headline,
            versions.get("tensorflow"), versions.get("python"),
        ),
    )  # fmt: skip
    for rank, finding in enumerate(found.findings, 1):
        where = finding.where[0] if finding.where else None
        yield (
            "findings",
            (
                run, rank, finding.code, finding.family, finding.severity, finding.title, finding.share_of_step,
                finding.gain.likely, where.file if where else None, where.line if where else None, finding.advice,
            ),
        )  # fmt: skip
        for number, place in enumerate(finding.where, 1):
            yield "places", (run, rank, finding.code, number, place.file, place.line, place.function)
        for item in finding.evidence:
            yield "evidence", (run, rank, finding.code, item.name, item.value, item.unit, item.window)
    for part, ms in found.parts_ms.items():
        yield "parts", (run, part, ms)


def _kept(folder: Path, run: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the tables that the report left next to the summary; nothing of runs that were reported before it did."""
    found = kept_tables.read(folder / run)
    if found is None:
        return
    for part, s in found.run_parts_s.items():
        yield "run_parts", (run, part, s)
    for work, parts in found.work_parts_ms.items():
        for part, ms in parts.items():
            yield "work_parts", (run, work, part, ms)
    for window in found.windows:
        yield "windows", (run, window.name, window.first_step, window.steps, window.status, window.reason)
    for note in found.notes:
        yield "notes", (run, note)
    for rank, item in enumerate(found.headroom, 1):
        place = item.where[0] if item.where else None
        at = (place.file, place.line) if place is not None else (None, None)
        yield "headroom", (run, rank, item.code, item.title, item.gain.likely, *at, item.advice)
    for probe in found.probes:
        yield "probes", (run, probe.name, probe.status, probe.reason, probe.summary)
        for table in probe.tables:
            yield from _cells(run, probe.name, table)


def _cells(run: str, probe: str, table: Table) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for number, row in enumerate(table.rows, 1):
        for column, value in zip(table.columns, row, strict=False):
            text = value if isinstance(value, str) else None
            figure = None if value is None or text is not None else value
            yield "cells", (run, probe, table.title, number, column.name, column.unit, figure, text)


def ask(folder: Path, statement: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Columns and rows of an answer. Raises UsageError for what is no SQL."""
    database = connect(folder)
    # The statement sees these tables and nothing else of the machine.
    database.execute("SET enable_external_access = false").fetchall()
    try:
        answer = database.execute(statement)
        columns = tuple(column[0] for column in answer.description or ())
        return columns, answer.fetchall()
    except Exception as error:  # of duckdb's many kinds
        text = re.sub(r"\s+", " ", str(error))
        raise UsageError(f"{text[:300]} (tables: {', '.join(TABLES)})") from None
    finally:
        database.close()


def export(folder: Path, target: Path) -> Sequence[tuple[Path, int]]:
    """Write each table as Parquet into a folder; gives the files with their rows. Raises UsageError."""
    database = connect(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        written = []
        for name in TABLES:
            file = target / f"{name}.parquet"
            database.execute(f"COPY {name} TO '{_quoted(file)}' (FORMAT parquet)").fetchall()
            ((count,),) = database.execute(f"SELECT count(*) FROM {name}").fetchall()
            written.append((file, count))
        return written
    except OSError as error:  # DuckDB's own of this kind, too
        raise UsageError(f"can't write {target}: {error.strerror or error}") from error
    finally:
        database.close()
