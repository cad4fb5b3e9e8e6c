"""The four commands at the end of the verdict."""

from __future__ import annotations

import shlex

from rich.text import Text

from tfperfkit.model import Finding, Report
from tfperfkit.report.layout import prose
from tfperfkit.report.paths import name, short_path
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import visible

_LABEL = 14
_GAP = 3


def command_lines(report: Report, first: Finding | None, handle: str, screen: Screen) -> list[Text]:
    """``full report   tfperf report last --full      explain   tfperf explain INP002``: two on a line if they fit.

    ``handle``: what names the run on the command line; "" for its own name or folder.
    """
    return two_columns(list_commands(report, first, handle, screen), screen)


def list_commands(report: Report, first: Finding | None, handle: str, screen: Screen) -> list[tuple[str, str]]:
    """Return (label, command) pairs: the full report, then what the first finding has."""
    run = handle or _handle(report, screen)
    pairs = [("full report", f"tfperf report {run} --full")] if run else []
    if first is not None:
        code = name(first.code, screen)
        pairs.append(("explain", f"tfperf explain {code}"))
        if run:
            pairs.append(("measure it", f"tfperf try {run} --only {code}"))
            pairs.append(("show patch" if first.patch else "draft", f"tfperf fix {run}"))
    elif report.headroom:
        pairs.append(("explain", f"tfperf explain {name(report.headroom[0].code, screen)}"))
    if run and len(pairs) < 4:
        pairs.append(("HTML", f"tfperf view {run}"))
    return pairs


def two_columns(pairs: list[tuple[str, str]], screen: Screen) -> list[Text]:
    """Return the commands in two columns; one below the other if they are too wide for that."""
    left, right = pairs[::2], pairs[1::2]
    left_width = max((len(command) for _, command in left), default=0)
    label = max((len(words) for words, _ in right), default=0) + 2
    right_width = max((len(command) for _, command in right), default=0)
    if right and _LABEL + left_width + _GAP + label + right_width <= screen.width:
        lines = []
        for index, (words, command) in enumerate(left):
            line = Text(words.ljust(_LABEL), "dim").append(command)
            if index < len(right):
                line.append(" " * (left_width - len(command) + _GAP)).append(right[index][0].ljust(label), "dim")
                line.append(right[index][1])
            lines.append(line)
        return lines
    return [
        line for words, command in pairs for line in prose(command, screen, indent=_LABEL, label=words.ljust(_LABEL))
    ]


def _handle(report: Report, screen: Screen) -> str:
    """Return the run's name or folder, quoted for a shell; "" if it was not kept."""
    if not report.run.directory:
        return ""
    directory = report.run.directory.rstrip("/") or "/"
    return folder_handle(report.run.handle or _short(directory), screen)


def folder_handle(folder: str, screen: Screen) -> str:
    """Return a folder's or a run's name, quoted for a shell."""
    return name(shlex.quote(visible(folder, unicode=screen.unicode)), screen)


def _short(directory: str) -> str:
    """Return a short form of a path that a shell reads too: quoted, it would not expand the ~."""
    short = short_path(directory)
    return directory if short.startswith("~") else short
