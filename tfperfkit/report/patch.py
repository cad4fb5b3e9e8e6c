"""A finding's patch on a terminal: the lines of the script's own that it changes, before and after."""

from __future__ import annotations

import re

from rich.text import Text

from tfperfkit.report.layout import described
from tfperfkit.report.source import clean_source
from tfperfkit.report.terminal import Screen

#: A patch that changes more lines is for ``tfperf fix``.
LINES = 12
_HUNK = re.compile(r"@@ -(\d+)")
_STYLES = {" - ": "red", " + ": "green"}


def patch_lines(patch: str, screen: Screen, indent: int) -> list[Text]:
    """``train.py:12`` and below it the lines that go (``-``) and those that come (``+``); nothing for no patch, and
    where to see it for one that is long."""
    changes = _changes(patch)
    if sum(len(lines) for _, lines in changes) > LINES:
        return described("tfperf fix shows it: it changes many lines", screen, indent=indent)
    made: list[Text] = []
    for place, lines in changes:
        signs, code = [line[0] for line in lines], clean_source([line[1:] for line in lines])
        rows = [f" {sign} {text}" for sign, text in zip(signs, code, strict=True)]
        made += described(place, screen, indent=indent)
        for row in rows:
            shown = described(row, screen, indent=indent)
            for text in shown:
                text.stylize(_STYLES[row[:3]])
            made += shown
    return made


def _changes(patch: str) -> list[tuple[str, list[str]]]:
    """By place: the changed lines of each hunk of a unified diff, with their signs."""
    changes: list[tuple[str, list[str]]] = []
    file, at, open_ = "", 0, False
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if line.startswith("--- a/"):
            file = line[len("--- a/") :]
        elif line.startswith(("+++ b/", "\\")):
            continue
        elif hunk is not None:
            at, open_ = int(hunk[1]), False
        elif line[:1] in ("-", "+"):
            if not open_:
                changes.append((f"{file}:{max(at, 1)}", []))
                open_ = True
            changes[-1][1].append(line)
            at += line[0] == "-"
        else:
            at, open_ = at + 1, False
    return changes
