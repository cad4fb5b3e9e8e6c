"""The reports of many runs as tables, in DuckDB: to be asked by SQL, or written as Parquet."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.analysis import summary
from tfperfkit.errors import UsageError
from tfperfkit.runs import listing

#: What each table holds. Times are in ms where the name says so; ``run`` is the name of the run.
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
    "parts": "run VARCHAR, part VARCHAR, ms DOUBLE",
}


def connect(folder: Path) -> Any:
    """A database in memory with the tables of all runs that have a summary. Raises UsageError without DuckDB."""
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
                for table, values in _rows(name, found) if found is not None else ():
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


def _rows(run: str, found: summary.RunSummary) -> Iterator[tuple[str, tuple[Any, ...]]]:
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
                finding.predicted_speedup, where.file if where else None, where.line if where else None, finding.advice,
            ),
        )  # fmt: skip
        for item in finding.evidence:
            yield "evidence", (run, rank, finding.code, item.name, item.value, item.unit, item.window)
    for part, ms in found.parts_ms.items():
        yield "parts", (run, part, ms)


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
