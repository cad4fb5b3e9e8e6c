"""Neutral tables as lines of text, in which no cell is ever cut.

A table that fits is printed as it is. Else its headings wrap, then its words and source lines go on below
themselves, and if that leaves too little room, its rows are printed one below the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from rich.text import Text

from tfperfkit.model import Table
from tfperfkit.report import numbers
from tfperfkit.report.layout import joined, prose, trimmed
from tfperfkit.report.paths import location, name, with_short_paths
from tfperfkit.report.source import clean_source, highlight
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import cells, hang_of, spans, wrap

GAP = 2
#: The gutter at the left holds the mark of emphasised rows.
GUTTER = 2
#: Narrower than this, a column of this unit is not readable: the rows are stacked.
_MIN = {"source": 32, "location": 20, "text": 16}
#: Headings of numbers are not broken to be narrower than this.
_HEADING_WIDTH = 8
_HEADING = "dim"
_MARKED = "bold"


class _Column(msgspec.Struct):
    heading: str
    unit: str
    cells: list[str]
    measure: str = ""  # the unit that the heading names
    colored: list[Text] | None = None
    words: frozenset[int] = frozenset()  # rows of ``colored`` that are no code
    width: int = 0
    split: bool = False  # the heading wraps, and its unit is in the next line

    @property
    def is_number(self) -> bool:
        return self.unit in numbers.NUMERIC

    @property
    def title(self) -> str:
        return f"{self.heading} {self.measure}".strip()

    @property
    def widest(self) -> int:
        return max(map(cells, self.cells), default=0)


def table_lines(table: Table, screen: Screen) -> list[Text]:
    """Return the table with its title and note, as lines of at most ``screen.width`` cells."""
    lines = prose(with_short_paths(table.title, screen.folder), screen, style="bold")
    columns = _columns(table, screen)
    marked = set(table.marked)
    if not columns or not table.rows:
        lines += prose("(no rows)", screen, indent=GUTTER, style="dim")
    elif _fit(columns, screen.width):
        lines += _head(columns)
        for row in range(len(table.rows)):
            lines += _row_lines(columns, row, row in marked, screen)
    else:
        for row in range(len(table.rows)):
            lines += _stacked(columns, row, row in marked, screen)
    return lines + prose(table.note, screen, indent=GUTTER, style="dim")


def _columns(table: Table, screen: Screen) -> list[_Column]:
    """Return the columns with their texts. Rows of the wrong length (a probe's bug) are filled up, not refused."""
    count = max([len(table.columns), *map(len, table.rows)])
    values = [[row[index] if index < len(row) else None for row in table.rows] for index in range(count)]
    result: list[_Column] = []
    for index in range(count):
        known = index < len(table.columns)
        heading = name(table.columns[index].name, screen) if known else ""
        unit = table.columns[index].unit if known else "text"
        column = _Column(heading=heading, unit=unit, cells=[])
        if unit in numbers.NUMERIC:
            words = set(re.findall(r"\w+|%", heading.lower()))
            fixed = bool(words & {"ms", "us", "µs", "s", "bytes", "b", "kib", "mib", "gib", "%"})
            texts = numbers.column(values[index], unit, fixed=fixed, symbols=screen.symbols)
            column.measure = "" if fixed else texts.unit
            column.cells = [name(text, screen) for text in texts.cells]
        elif unit == "source":
            source = clean_source(["" if v is None else str(v) for v in values[index]], unicode=screen.unicode)
            column.cells = source
            column.words = frozenset(table.words)
            column.colored = _colored(source, table) if screen.color else list(map(Text, source))
        else:
            write = location if unit == "location" else name
            column.cells = [
                screen.symbols.dash if value is None else write(str(value), screen) for value in values[index]
            ]
        result.append(column)
    if any(column.unit == "source" for column in result):
        _blank_unmeasured(result, values)
    return result


def _colored(source: Sequence[str], table: Table) -> list[Text]:
    """Code in colours; words stay as they are, and an apostrophe in them begins no string."""
    words = set(table.words)
    code = highlight(["" if row in words else text for row, text in enumerate(source)], table.language)
    return [Text(source[row]) if row in words else text for row, text in enumerate(code)]


def _blank_unmeasured(columns: Sequence[_Column], values: Sequence[Sequence[object]]) -> None:
    """Remove the dashes next to source lines that only have a number: comments, blank lines, lines that never ran.

    It is how line_profiler's tables look; the eye finds what ran.
    """
    measured = [index for index, column in enumerate(columns) if column.is_number]
    for row in range(len(columns[0].cells)):
        if sum(values[index][row] is not None for index in measured) <= 1:
            for index in measured:
                if values[index][row] is None:
                    columns[index].cells[row] = ""


def _fit(columns: Sequence[_Column], width: int) -> bool:
    """Sets the widths of the columns. False if they do not fit."""
    room = width - GUTTER - GAP * (len(columns) - 1)
    for column in columns:
        column.width = max(column.widest, cells(column.title))
    if sum(column.width for column in columns) <= room:
        return True
    for column in columns:
        column.split = True
        longest = max(map(cells, [*column.heading.split(), column.measure]))
        column.width = max(column.widest, longest, min(cells(column.heading), _HEADING_WIDTH))
    excess = sum(column.width for column in columns) - room
    # The widest column of words gives way first, so that short names stay whole next to long ones.
    flexible = [column for column in columns if not column.is_number]
    while excess > 0:
        column = max(flexible, key=lambda c: c.width - _MIN[c.unit], default=columns[0])
        if not flexible or column.width <= _MIN[column.unit]:
            return False
        others = [c.width - _MIN[c.unit] for c in flexible if c is not column]
        surplus = column.width - _MIN[column.unit]
        # At once down to the next widest, or by what is needed.
        step = max(1, min(excess, surplus - max([0, *others])))
        column.width -= step
        excess -= step
    return True


def _head(columns: Sequence[_Column]) -> list[Text]:
    if not any(column.title for column in columns):
        return []
    if any(column.split for column in columns):
        units = any(column.measure for column in columns)
        wrapped = [[*wrap(column.heading, column.width), *[column.measure] * units] for column in columns]
    else:
        wrapped = [[column.title] for column in columns]
    height = max(map(len, wrapped))
    lines = []
    for level in range(height):
        line = Text(" " * GUTTER, _HEADING)
        for column, pieces in zip(columns, wrapped, strict=True):
            at = level - (height - len(pieces))  # headings stand on the table, not under the ceiling
            _put(line, Text(pieces[at] if at >= 0 else "", _HEADING), column)
        lines.append(trimmed(line))
    return lines


def _row_lines(columns: Sequence[_Column], row: int, marked: bool, screen: Screen) -> list[Text]:
    """Return the lines of a row."""
    pieces = [_pieces(column, row) for column in columns]
    lines = []
    for level in range(max(map(len, pieces))):
        line = Text().append("> " if marked and level == 0 else " " * GUTTER, "red")
        for column, own in zip(columns, pieces, strict=True):
            piece = own[level] if level < len(own) else Text()
            if piece.plain.strip() == screen.symbols.dash:
                piece.stylize("dim")
            _put(line, piece, column)
        if marked:
            line.stylize(_MARKED)
        lines.append(trimmed(line))
    return lines


def _put(line: Text, piece: Text, column: _Column) -> None:
    """Appends one cell, aligned; what stands to its right begins after the gap."""
    space = max(column.width - cells(piece.plain), 0)
    if column.is_number:
        line.append(" " * space).append_text(piece).append(" " * GAP)
    else:
        line.append_text(piece).append(" " * (space + GAP))


def _pieces(column: _Column, row: int) -> list[Text]:
    """One cell as lines of the column's width."""
    text = column.cells[row]
    if column.colored is None:
        return [Text(piece) for piece in wrap(text, column.width)]
    return _folded(column.colored[row], column.width, code=row not in column.words)


def _folded(text: Text, width: int, *, code: bool = True) -> list[Text]:
    """Return a source line, going on below itself further in. Of ``code`` every character stays; words are broken as
    words."""
    hang = hang_of(text.plain, width)
    result = []
    for number, (start, end) in enumerate(spans(text.plain, width, width - hang, exact=code)):
        result.append(Text(" " * hang).append_text(text[start:end]) if number else text[start:end])
    return result


def _stacked(columns: Sequence[_Column], row: int, marked: bool, screen: Screen) -> list[Text]:
    """Return a row whose cells do not fit next to each other: its name, its numbers, its source."""
    figures = []
    for column in columns:
        if column.is_number and column.cells[row].strip():
            parts = (column.heading, column.cells[row].strip(), column.measure)
            figures.append(" ".join(part for part in parts if part))
    words = [column for column in columns if not column.is_number and column.unit != "source"]
    lines: list[Text] = []
    for number, column in enumerate(words):
        text = column.cells[row] if number == 0 else f"{column.heading} {column.cells[row]}".strip()
        lines += [Text(" " * (GUTTER + 2 * bool(number))).append(piece) for piece in wrap(text, screen.width - 4)]
    lines += joined(figures, screen, indent=GUTTER + 2 * bool(words))
    for column in columns:
        if column.colored is not None and column.cells[row]:
            pieces = _folded(column.colored[row], screen.width - 4, code=row not in column.words)
            lines += [Text(" " * 4).append_text(piece) for piece in pieces]
    if marked and lines:
        lines[0] = Text().append("> ", "red").append_text(lines[0][GUTTER:])
        lines[0].stylize(_MARKED)
    return [trimmed(line) for line in lines]
