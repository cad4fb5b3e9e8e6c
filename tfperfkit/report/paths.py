"""How a place in the code is written: short where that stays exact."""

from __future__ import annotations

import os
import re

from tfperfkit.model import SourceSpan
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import NAME_LIMIT, shorten, visible

_LOCATION = re.compile(r"(?P<file>.+?)(?P<line>:\d+(?:\D.*)?)", re.DOTALL)
#: A notebook's cell, instead of a file.
CELL = re.compile(r"cell \d+")
_SPACE = re.compile(r"\s")
_PATH_IN_TEXT = re.compile(r"(?<![\w.~/-])/[^\s():]{1,4000}(?=:\d)")


def short_path(path: str, folder: str = "") -> str:
    """Return ``path`` from the current directory or from ``folder``, whichever is shorter, if it lies below one of
    these folders; else with ``~`` for the home, else as it is.

    Names that are no absolute path (``<stdin>``, ``train.py``) stay as they are.
    """
    if not os.path.isabs(path) or "\0" in path:
        return path
    below = [short for start in ("", folder if os.path.isabs(folder) else "") if (short := _relative_path(path, start))]
    if below:
        return min(below, key=len)
    home = os.path.expanduser("~")
    if len(home) > 1 and path.startswith(home.rstrip(os.sep) + os.sep):
        return "~" + path[len(home.rstrip(os.sep)) :]
    return path


def _relative_path(path: str, start: str) -> str | None:
    """Return ``path`` from ``start`` (or the current directory); None if it is not below, or no shorter so."""
    try:
        relative = os.path.relpath(path, start or None)
    except (OSError, ValueError):  # the current directory is gone; another drive
        return None
    return relative if relative.split(os.sep, 1)[0] != os.pardir and len(relative) < len(path) else None


def with_short_paths(text: str, folder: str = "") -> str:
    """``text`` with the paths in it (``/a/b/train.py:57``: only before a line number) as ``short_path`` has them."""
    text = _PATH_IN_TEXT.sub(lambda match: short_path(match.group(), folder), text)
    for start in sorted(filter(_SPACE.search, (folder, _current())), key=len, reverse=True):
        # The text does not show where such a path ends; but where it begins is known.
        text = text.replace(start.rstrip(os.sep) + os.sep, "")
    return text


def _current() -> str:
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return ""


def place(span: SourceSpan, screen: Screen) -> str:
    """``train.py:57 (main)``; the line and the function only where they are known."""
    text = short_path(span.file, screen.folder)
    if span.line > 0:
        text = f"{text}{_separator(text)}{span.line}"
    if span.function:
        text += f" ({span.function})"
    return name(text, screen)


def _separator(file: str) -> str:
    """Return what stands between a file and its line: a notebook's cell has lines of its own."""
    return ", line " if CELL.fullmatch(file) else ":"


def location(text: str, screen: Screen) -> str:
    """Return the text of a ``location`` cell, ``/a/b/train.py:57`` or more after it, with its path shortened."""
    match = _LOCATION.fullmatch(text)
    if match is None:
        return name(short_path(text, screen.folder), screen)
    return name(short_path(match["file"], screen.folder) + match["line"], screen)


def name(text: str, screen: Screen) -> str:
    """Any name or one-line text of a script, harmless and not endless."""
    if len(text) > 10 * NAME_LIMIT:  # the middle goes anyway: no need to escape a megabyte first
        text = text[: 5 * NAME_LIMIT] + text[-5 * NAME_LIMIT :]
    return shorten(visible(text, unicode=screen.unicode), ellipsis=screen.symbols.ellipsis)
