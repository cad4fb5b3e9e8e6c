"""The probes' tables, as the console has them, for reading and for the page's search."""

from __future__ import annotations

from typing import Any

from tfperfkit.model import ProbeOutcome, Report, Table
from tfperfkit.report import numbers
from tfperfkit.report.children import family
from tfperfkit.report.history import over_time
from tfperfkit.report.html.words import name, text
from tfperfkit.report.text import visible
from tfperfkit.report.thread_calls import list_other_threads

#: Maximum size of a table, so that a page stays small; the JSON report has all rows.
_ROWS, _CELL = 120, 500


def probes(report: Report) -> list[dict[str, Any]]:
    """Return every probe with its words and tables, after a long run over time, the script's children and the calls on
    other threads."""
    sections = (over_time(report), family(report), list_other_threads(report), *report.probes)
    return [_probe(section, report.run.folder) for section in sections if section is not None]


def _probe(probe: ProbeOutcome, folder: str) -> dict[str, Any]:
    return {
        "name": name(probe.name),
        "status": probe.status,
        "reason": text(probe.reason or "", folder),
        "summary": text(probe.summary, folder),
        "notes": [text(note, folder) for note in probe.notes],
        "tables": [_table(table, folder) for table in probe.tables],
    }


def _table(table: Table, folder: str) -> dict[str, Any]:
    rows = table.rows[:_ROWS]
    columns = []
    for index, column in enumerate(table.columns):
        values = [row[index] if index < len(row) else None for row in rows]
        if column.unit in numbers.NUMERIC:
            made = numbers.column(values, column.unit)
            heading = f"{column.name} ({made.unit})" if made.unit else column.name
            cells = [cell.strip() for cell in made.cells]
        else:
            heading = column.name
            cells = ["" if value is None else str(value) for value in values]
        kind = "src" if column.unit == "source" else "r" if column.unit in numbers.NUMERIC else ""
        shown = [_cell(cell, column.unit, folder) for cell in cells]
        columns.append({"name": name(heading), "kind": kind, "cells": shown})
    note = text(table.note, folder)
    left = len(table.rows) - len(rows)
    return {
        "title": text(table.title, folder),
        "columns": columns,
        "rows": range(len(rows)),
        "marked": set(table.marked),
        "note": "; ".join(filter(None, [note, f"{left:,} more rows are in the JSON report" if left else ""])),
    }


def _cell(value: str, unit: str, folder: str) -> str:
    if unit == "source":
        return visible(value[:_CELL].expandtabs(4))
    return text(value[: 4 * _CELL], folder)[:_CELL]
