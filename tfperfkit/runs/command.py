"""``tfperf runs``, ``tfperf runs prune``, ``tfperf runs sql``, ``tfperf runs export``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfperfkit.clock import wall_s
from tfperfkit.config import runs_folder
from tfperfkit.errors import UsageError
from tfperfkit.model import Column, Table
from tfperfkit.records.plural import plural
from tfperfkit.report.numbers import alone
from tfperfkit.report.terminal import is_quiet
from tfperfkit.report.text import one_line, shorten
from tfperfkit.runs import listing, pruning

_TITLE = 40  # characters of a finding's title


def show(word: str, key: str, rows_max: int, json_file: str | None) -> None:
    """List the runs; raises UsageError."""
    folder = runs_folder()
    found = listing.chosen(listing.find(folder), word, key)
    if json_file:
        from tfperfkit.report.json import encode_any

        text = encode_any({"schema": 1, "folder": str(folder), "runs": found})
        if json_file == "-":
            sys.stdout.buffer.write(text)
            sys.stdout.flush()
        else:
            Path(json_file).write_bytes(text)
        return
    if is_quiet():
        print("".join(f"{one_line(run.name)}\n" for run in found[: rows_max or None]), end="")
        return
    if not found:
        print(one_line(f"no run{' of that kind' if word else ''} in {folder}"))
        return
    columns = ("Run", "When", "Steps", "Step ms", "First finding")
    units = ("text", "text", "count", "ms", "text")
    rows = tuple(
        (run.name, _format_start(run.started), run.steps or None, run.step_ms, _first_finding(run))
        for run in found[: rows_max or None]
    )
    _print(Table(title="", columns=tuple(map(Column, columns, units)), rows=rows))  # type: ignore[arg-type]
    hidden = len(found) - len(rows)
    if hidden > 0:
        print(f"and {hidden:,} more: tfperf runs --limit 0")


def prune(older: str | None, larger: str | None, yes: bool) -> int:
    """Remove runs by age, by size or by both, after asking; raises UsageError."""
    older_s = pruning.age(older) if older is not None else None
    limit = pruning.size(larger) if larger is not None else None
    folder = runs_folder()
    which = pruning.doomed(folder, listing.find(folder), wall_s(), older_s, limit)
    if not which:
        _say("nothing to remove")
        return 0
    size = alone(float(sum(each.bytes for each in which)), "bytes")
    first, last = which[0].run, which[-1].run
    words = f"{plural(len(which), 'run')}, {size}"
    if not (yes and is_quiet()):
        print(one_line(f"{words}: {first.name}" + (f" ... {last.name}" if last is not first else "")))
    if not yes and not _agrees():
        _say("nothing was removed")
        return 1
    _say(f"{pruning.remove(folder, which)} removed")
    return 0


def _say(text: str) -> None:
    """Print a line, if the user wants notices."""
    if not is_quiet():
        print(text)


def _agrees() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to be asked: --yes removes them")
    print("Remove them? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def sql(statement: str, json_file: str | None) -> None:
    """Ask the tables; raises UsageError."""
    from tfperfkit.runs.tables import ask

    columns, rows = ask(runs_folder(), statement)
    if json_file:
        from tfperfkit.report.json import encode_any

        text = encode_any([dict(zip(columns, map(_plain, row), strict=True)) for row in rows])
        if json_file == "-":
            sys.stdout.buffer.write(text)
            sys.stdout.flush()
        else:
            Path(json_file).write_bytes(text)
        return
    shown = tuple(tuple(_cell(value) for value in row) for row in rows)
    units = [_unit([row[index] for row in shown]) for index in range(len(columns))]
    _print(Table(title="", columns=tuple(map(Column, columns, units)), rows=shown))  # type: ignore[arg-type]


def export(target: str) -> None:
    """Write Parquet; raises UsageError."""
    from tfperfkit.runs.tables import export as write

    for file, rows in write(runs_folder(), Path(target)):
        print(one_line(f"{file}: {plural(rows, 'row')}"))


def _print(table: Table) -> None:
    from tfperfkit.report.console import print_lines
    from tfperfkit.report.table import table_lines
    from tfperfkit.report.terminal import terminal_of

    screen = terminal_of(sys.stdout)
    print_lines([line for line in table_lines(table, screen) if line.plain.strip()], sys.stdout, screen)


def _format_start(started: float) -> str:
    """Return when a run started."""
    try:
        return time.strftime("%y-%m-%d %H:%M", time.localtime(started)) if started > 0 else ""
    except (OverflowError, ValueError, OSError):
        return ""


def _first_finding(run: listing.Run) -> str | None:
    """Return the first finding of a run."""
    parts = [run.status] * (run.status != "finished")
    parts += [f"{run.finding} {shorten(run.title, _TITLE)}"] * bool(run.finding)
    return ": ".join(parts) or None


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _cell(value: Any) -> str | int | float | None:
    return (
        value if value is None or isinstance(value, str | int | float) and not isinstance(value, bool) else str(value)
    )


def _unit(values: Sequence[Any]) -> str:
    there = [value for value in values if value is not None]
    return "number" if there and all(isinstance(value, int | float) for value in there) else "text"
