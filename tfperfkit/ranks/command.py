"""``tfperf report FOLDER`` of a folder with the parts of several ranks."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from rich.text import Text

from tfperfkit.ranks import words
from tfperfkit.ranks.page import page
from tfperfkit.ranks.parts import Whole, read
from tfperfkit.report.console import print_lines
from tfperfkit.report.json import encode_any
from tfperfkit.report.layout import heading, joined, prose
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
    """Return the report as lines of at most ``screen.width`` cells."""
    result: list[Text] = []
    for warning in words.warnings(whole):
        result += prose(warning, screen, style="bold yellow")
    result += joined(words.first_line(whole, screen.symbols), screen, style="bold")
    if late := words.late_words(whole, screen.symbols):
        result += prose(late, screen, style="bold")
    if exchange := words.exchange_words(whole, screen.symbols):
        result += prose(exchange, screen)
    result += [Text(), *heading("ranks", "", screen)]
    result += table_lines(words.table(whole, words.shown(whole)), screen)
    if whole.over_time:
        result += [Text(), *heading("over time", "", screen), *table_lines(words.by_time(whole), screen)]
    if found := words.merged(whole):
        result += [Text(), *heading("findings", "with their ranks", screen)]
        for line in found:
            result += prose(line, screen)
    result.append(Text())
    for note in (*whole.differing, *whole.notes):
        result += prose(note, screen, indent=10, label="note")
    if not whole.parts:
        return result
    if len(whole.parts) > words.MAX_ROWS:
        result += prose(f"tfperf report {folder} --html FILE, or --json FILE", screen, indent=10, label="all ranks")
    one = next((part for part in whole.parts if part.label == whole.late), whole.parts[0])
    return result + prose(f"tfperf report {folder}/{one.name}", screen, indent=10, label="one rank")
