"""A patch as replacements of lines, for programs that apply one at a click."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import msgspec

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FILE = "--- a/"


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """``count`` lines of ``file`` from ``line`` on (they count from 1) become ``text``; of 0 lines: it comes before."""

    file: str
    line: int
    count: int
    text: str


def replacements(patch: str, folder: str) -> tuple[Replacement, ...]:
    """Return the replacements of a unified diff whose names start from ``folder``; () for none, and for a file that
    ends without a newline.
    """
    try:
        return tuple(_read(patch.split("\n"), folder))
    except ValueError:
        return ()


def suggestions(patch: str, folder: str) -> tuple[Replacement, ...]:
    """Return the same, each of one line at least: what is inserted takes the line below it along, or the one above."""
    try:
        return tuple(_read(patch.split("\n"), folder, lines=True))
    except ValueError:
        return ()


def _read(rows: list[str], folder: str, *, lines: bool = False) -> Iterator[Replacement]:
    file, at = "", 0
    while at < len(rows):
        line = rows[at]
        hunk = _HUNK.match(line)
        at += 1
        if line.startswith(_FILE):
            name = line[len(_FILE) :]
            if name.startswith(("/", "~")) or ".." in name.split("/"):
                raise ValueError("a name that is not below the folder")
            file = os.path.join(folder, name)
        elif hunk is not None and file:
            number, old, new = int(hunk[1]), int(hunk[2] or 1), int(hunk[3] or 1)
            number += old == 0  # then it names the line above
            body = []
            while old or new:
                if at >= len(rows) or rows[at][:1] not in (" ", "-", "+"):
                    raise ValueError("a hunk that is cut")
                kind = rows[at][:1]
                old -= kind in " -"
                new -= kind in " +"
                body.append(rows[at])
                at += 1
            yield from _of_hunk(file, number, body, lines)
        elif line.startswith("\\"):
            raise ValueError("a file without a newline at its end")


def _of_hunk(file: str, number: int, body: list[str], lines: bool) -> Iterator[Replacement]:
    gone, made, above = 0, "", ""
    for index, line in enumerate([*body, " "]):
        if line[0] == "-":
            gone += 1
        elif line[0] == "+":
            made += line[1:] + "\n"
        else:
            if made and not gone and lines and index < len(body):
                yield Replacement(file=file, line=number, count=1, text=f"{made}{line[1:]}\n")
            elif made and not gone and lines and above:
                yield Replacement(file=file, line=number - 1, count=1, text=f"{above}\n{made}")
            elif gone or made:
                yield Replacement(file=file, line=number, count=gone, text=made)
            above = line[1:]
            number, gone, made = number + gone + 1, 0, ""
