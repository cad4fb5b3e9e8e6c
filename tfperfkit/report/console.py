"""The report on a terminal, in a pipe or in a CI log. The verdict comes last, so that it is above the prompt.

Text of scripts is never taken as markup, and without colour no escape sequence is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

import msgspec
from rich.text import Text

from tfperfkit.model import ProbeOutcome, Report, Table
from tfperfkit.report.children import family
from tfperfkit.report.findings import finding_sections, headroom_section
from tfperfkit.report.history import over_time
from tfperfkit.report.layout import heading, prose
from tfperfkit.report.paths import name, with_short_paths
from tfperfkit.report.summary import bottom_lines, nothing_lines, nothing_recorded, time_sections
from tfperfkit.report.table import table_lines
from tfperfkit.report.terminal import MIN_WIDTH, Screen, terminal_of
from tfperfkit.report.thread_calls import list_other_threads
from tfperfkit.report.verdict.block import verdict_lines

_STATUS = {"failed": "bold red", "cut": "yellow", "skipped": "yellow"}


def render(
    report: Report,
    *,
    file: TextIO,
    width: int | None = None,
    color: bool | None = None,
    full: bool = False,
    handle: str = "",
) -> None:
    """Writes the report to ``file``.

    ``width`` (in cells; at least 40 is used) and ``color`` are what ``file`` can show unless given: see
    ``terminal.terminal_of``. ``full``: with all evidence and tables before the verdict. ``handle``: what names the run
    in the commands that the verdict ends with. A stream that is not Unicode gets ASCII only. Raises what ``file.write``
    raises.
    """
    screen = terminal_of(file)
    if width is not None:
        screen = msgspec.structs.replace(screen, width=max(width, MIN_WIDTH))
    if color is not None:
        screen = msgspec.structs.replace(screen, color=color)
    print_lines(report_lines(report, screen, full=full, handle=handle), file, screen)


def report_lines(report: Report, screen: Screen, *, full: bool = False, handle: str = "") -> list[Text]:
    """Return the report as lines of at most ``screen.width`` cells: what was asked for in full, then the verdict."""
    screen = msgspec.structs.replace(screen, folder=report.run.folder)
    if nothing_recorded(report):
        found = family(report)
        more = [Text(), *_probe(found, None, screen)] if found is not None else []
        return [*nothing_lines(report, screen), *more]
    shown = [probe for probe in report.probes if full or report.shown is None or probe.name in report.shown]
    # The sign before rows is explained where it is first met.
    first = next((table for probe in shown for table in probe.tables if table.marked), None)
    sections = [_probe(probe, first, screen) for probe in shown]
    sections += [_probe(each, None, screen) for each in (over_time(report), family(report)) if each is not None]
    if full:
        threads = list_other_threads(report)
        sections += [_probe(threads, None, screen)] if threads is not None else []
        sections.append([*heading("run", "", screen), *bottom_lines(report, screen)])
        sections.append([*heading("time", "", screen), *time_sections(report, screen)])
        sections += [finding_sections(report, screen), headroom_section(report, screen)]
    sections = [section for section in sections if section]
    if sections:
        sections.append(heading("verdict", "", screen))
    lines = [line for section in sections for line in (*section, Text())]
    return [*lines, *verdict_lines(report, screen, handle)]


def _probe(probe: ProbeOutcome, first: Table | None, screen: Screen) -> list[Text]:
    """Render a probe's section: its status, its words, its tables; or the reason why there are none.

    ``first``: the table that explains the sign before marked rows.
    """
    status = str(probe.status)
    aside = status if status != "ok" else ""  # which may be read as a verdict on the script
    lines = heading(name(probe.name, screen), aside, screen, aside_style=_STATUS.get(status, ""))
    if probe.reason:
        lines += prose(with_short_paths(probe.reason, screen.folder), screen, style="" if status == "ok" else "yellow")
    elif status != "ok":
        lines += prose("no reason was given", screen, style="yellow")
    lines += prose(with_short_paths(probe.summary, screen.folder), screen)
    for index, table in enumerate(probe.tables):
        space = index or probe.reason or probe.summary
        lines += [Text()] * bool(space) + table_lines(table, screen)
        if table is first:
            lines += prose("> marks the costliest line of a table", screen, indent=2, style="dim")
    if probe.notes and probe.tables:
        lines.append(Text())
    for note in probe.notes:
        lines += prose(with_short_paths(note, screen.folder), screen, indent=6, label="note")
    return lines


def print_lines(lines: Sequence[Text], file: TextIO, screen: Screen) -> None:
    """Writes laid-out lines to ``file``, in colour where the screen has it. Raises what ``file.write`` raises."""
    from rich.console import Console

    console = Console(
        file=file,
        width=screen.width,
        # The sixteen colours of the terminal's own theme: readable on dark and light, the same everywhere.
        color_system="standard" if screen.color else None,
        force_terminal=screen.color,
        no_color=not screen.color,
        force_jupyter=False,  # in a notebook, too, the report goes to ``file``
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},  # read once, in ``terminal_of``
    )
    console.print(Text("\n").join(lines), soft_wrap=True)
