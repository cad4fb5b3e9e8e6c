"""``tfperf report FOLDER`` of a folder with the parts of several ranks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from rich.text import Text

from tfperfkit.model import Column, Table
from tfperfkit.ranks.parts import Whole, read
from tfperfkit.report.console import print_lines
from tfperfkit.report.layout import heading, joined, prose
from tfperfkit.report.numbers import alone
from tfperfkit.report.table import table_lines
from tfperfkit.report.terminal import Screen, terminal_of


def show(folder: Path, json_file: str | None, file: TextIO) -> None:
    """Print the report of all ranks, or write it as JSON."""
    whole = read(folder)
    if json_file:
        from tfperfkit.report.json import encode_any

        if json_file == "-":
            sys.stdout.buffer.write(encode_any(whole))
            sys.stdout.flush()
            return
        Path(json_file).write_bytes(encode_any(whole))
    screen = terminal_of(file)
    print_lines(lines(whole, folder, screen), file, screen)


def lines(whole: Whole, folder: Path, screen: Screen) -> list[Text]:
    """The report as lines of at most ``screen.width`` cells."""
    result: list[Text] = []
    if whole.missing:
        ranks = ", ".join(map(str, whole.missing[:20]))
        result += prose(f"No part of rank {ranks}: it never began, or wrote elsewhere.", screen, style="bold yellow")
    if whole.died:
        result += prose(f"Did not finish: {', '.join(whole.died[:20])}.", screen, style="bold yellow")
    figures = [f"{whole.size} ranks"]
    times = [part.step_ms for part in whole.parts if part.step_ms is not None]
    if times:
        spread = f"{alone(min(times), 'ms', screen.symbols)} to {alone(max(times), 'ms', screen.symbols)}"
        figures.append(f"{spread} a step")
    if whole.examples_per_s is not None:
        figures.append(f"{alone(whole.examples_per_s, 'number')} examples/s together")
    result += joined(figures, screen, style="bold")
    if whole.late is not None:
        wait = alone(whole.wait_ms, "ms", screen.symbols)
        result += prose(f"The others wait {wait} of a step for {whole.late}: {whole.why}", screen, style="bold")
    columns = (
        Column("Rank"),
        Column("Role"),
        Column("Ended"),
        Column("Steps", "count"),
        Column("Step ms", "ms"),
        Column("In graph ms", "ms"),
        Column("First finding"),
    )
    rows = []
    for part in whole.parts:
        first = f"{part.findings[0].code}  {part.findings[0].title}" if part.findings else part.problem or None
        told = (part.role or None, part.status or "no report", part.steps or None, part.step_ms, part.inside_ms)
        rows.append((part.label, *told, first))
    result += [Text(), *heading("ranks", "", screen)]
    result += table_lines(Table(title="Steps of each rank", columns=columns, rows=tuple(rows)), screen)
    merged: dict[str, tuple[str, list[str]]] = {}
    for part in whole.parts:
        for finding in part.findings:
            merged.setdefault(finding.code, (finding.title, []))[1].append(part.label)
    if merged:
        result += [Text(), *heading("findings", "with their ranks", screen)]
        for code, (title, who) in sorted(merged.items(), key=lambda item: -len(item[1][1])):
            ranks = "all ranks" if len(set(who)) == len(whole.parts) else ", ".join(dict.fromkeys(who))
            result += prose(f"{code}  {title}: {ranks}", screen)
    result.append(Text())
    for note in whole.notes:
        result += prose(note, screen, indent=10, label="note")
    return result + prose(f"tfperf report {folder}/{whole.parts[0].name}", screen, indent=10, label="one rank")
