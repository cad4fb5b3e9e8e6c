"""The report of all ranks as one HTML file that asks nobody for anything."""

from __future__ import annotations

from html import escape
from pathlib import Path

from tfperfkit.model import Table
from tfperfkit.ranks import words
from tfperfkit.ranks.parts import Whole
from tfperfkit.report.numbers import alone, is_number
from tfperfkit.report.terminal import UNICODE

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.late { font-weight: 600; } .warning { border-left: 4px solid #c07a00; padding-left: .8rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #8884; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
caption { text-align: left; } .note { opacity: .75; font-size: .9rem; }
"""


def page(whole: Whole, folder: Path) -> str:
    """Return the document."""
    name = escape(folder.name)
    body = [f"<h1>{escape(UNICODE.dot.join(words.first_line(whole, UNICODE)))}</h1>"]
    body += [f'<p class="warning">{escape(text)}</p>' for text in words.warnings(whole)]
    if late := words.late_words(whole, UNICODE):
        body.append(f'<p class="late">{escape(late)}</p>')
    if exchange := words.exchange_words(whole, UNICODE):
        body.append(f"<p>{escape(exchange)}</p>")
    body += ["<h2>Ranks</h2>", _table(words.table(whole, whole.parts))]
    if whole.over_time:
        body += ["<h2>Over time</h2>", _table(words.by_time(whole))]
    if found := words.merged(whole):
        body.append("<h2>Findings, with their ranks</h2><ul>")
        body += [f"<li>{escape(line)}</li>" for line in found]
        body.append("</ul>")
    body += [f'<p class="note">{escape(note)}</p>' for note in (*whole.differing, *whole.notes)]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{name}: all ranks</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _table(table: Table) -> str:
    numeric = [column.unit in ("count", "ms") for column in table.columns]
    head = "".join(
        f'<th scope="col"{_class(number)}>{escape(column.name)}</th>'
        for column, number in zip(table.columns, numeric, strict=True)
    )
    rows = []
    for row in table.rows:
        cells = []
        for value, column, number in zip(row, table.columns, numeric, strict=True):
            unit = "number" if column.unit == "ms" else column.unit
            text = alone(value, unit, UNICODE) if is_number(value) else value
            cells.append(f"<td{_class(number)}>{escape(str(text)) if value is not None else '–'}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    note = f'<p class="note">{escape(table.note)}.</p>' if table.note else ""
    return (
        f'<div class="wide"><table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _class(number: bool) -> str:
    return ' class="number"' if number else ""
