"""``tfperf report FOLDER`` of a folder with the parts of several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from rich.text import Text

from tfperfkit.ranks import words
from tfperfkit.ranks.page import page
from tfperfkit.ranks.parts import Whole, read
from tfperfkit.ranks.verdict import verdict_lines
from tfperfkit.report.console import print_lines
from tfperfkit.report.json import encode_any
from tfperfkit.report.layout import heading, prose
from tfperfkit.report.table import table_lines
from tfperfkit.report.terminal import Screen, terminal_of


class Shown:
    """The report of all ranks in its forms. Parts are read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = read(folder)

    def text(self, file: TextIO) -> None:
        """Print it."""
        screen = terminal_of(file)
        print_lines(lines(self.whole, self.folder, screen), file, screen)

    def json(self) -> bytes:
        return encode_any(self.whole)

    def html(self) -> bytes:
        return page(self.whole, self.folder).encode("utf-8", "backslashreplace")


def lines(whole: Whole, folder: Path, screen: Screen) -> list[Text]:
    """Return the report as lines of at most ``screen.width`` cells: its tables, then the verdict."""
    result = heading("ranks", "", screen)
    result += table_lines(words.table(whole, words.shown(whole)), screen)
    if exchange := words.exchange_words(whole, screen.symbols):
        result += prose(exchange, screen)
    if whole.over_time:
        result += [Text(), *heading("over time", "", screen), *table_lines(words.by_time(whole), screen)]
    if found := words.merged(whole):
        result += [Text(), *heading("findings", "with their ranks", screen)]
        for line in found:
            result += prose(line, screen)
    notes = [line for note in (*whole.differing, *whole.notes) for line in prose(note, screen, indent=10, label="note")]
    result += [Text(), *notes] if notes else []
    return [*result, Text(), *heading("verdict", "", screen), Text(), *verdict_lines(whole, folder, screen)]
