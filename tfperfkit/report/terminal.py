"""Abilities of the stream that the report is printed to: its width, colour, and characters.

The only place in the report that reads the environment.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping
from typing import TextIO

import msgspec

#: Width in cells where there is no terminal and no COLUMNS: a pipe, a file, a CI log.
DEFAULT_WIDTH = 100
#: Nothing is laid out narrower than this, whatever the terminal says.
MIN_WIDTH = 40


class Symbols(msgspec.Struct, frozen=True):
    """The few signs of ours that are not ASCII, so that a plain stream can have others."""

    dot: str = " · "
    dash: str = "–"
    ellipsis: str = "…"
    rule: str = "─"
    mark: str = "●"
    micro: str = "µ"


UNICODE = Symbols()
ASCII = Symbols(dot=" | ", dash="-", ellipsis="...", rule="-", mark="*", micro="u")


class Screen(msgspec.Struct, frozen=True):
    """Size and abilities of the screen that the report is drawn on. ``width`` is in cells; ``unicode`` is False where
    only ASCII is safe.

    ``folder``: of the script that is reported on ("": not known); places are shown from there where that is shorter.
    """

    width: int = DEFAULT_WIDTH
    color: bool = False
    unicode: bool = True
    folder: str = ""

    @property
    def symbols(self) -> Symbols:
        """Return the signs that this screen can show."""
        return UNICODE if self.unicode else ASCII


def terminal_of(file: TextIO, environ: Mapping[str, str] | None = None) -> Screen:
    """Return the abilities of ``file``. Never raises.

    Width: the terminal's own; elsewhere COLUMNS, else 100. Colour: on a terminal, unless TERM is ``dumb``;
    FORCE_COLOR turns it on anywhere (``0`` or ``false``: off), and a non-empty NO_COLOR turns it off, always.
    """
    env = os.environ if environ is None else environ
    tty = _is_terminal(file)
    return Screen(width=_width(file, tty, env), color=_color(tty, env), unicode=_is_unicode(file))


def _is_terminal(file: TextIO) -> bool:
    try:
        return bool(file.isatty())
    except (AttributeError, ValueError, OSError):  # no such method; closed
        return False


def _width(file: TextIO, tty: bool, env: Mapping[str, str]) -> int:
    if tty:
        try:
            columns = os.get_terminal_size(file.fileno()).columns
        except (AttributeError, ValueError, OSError):
            columns = 0
        if columns > 0:  # a pty of a container may say 0
            return max(columns, MIN_WIDTH)
    wish = env.get("COLUMNS", "").strip()
    # isdecimal alone takes digits of other scripts too; int() reads them as well. A silly length is no width.
    if wish.isdecimal() and len(wish) <= 5 and int(wish) > 0:
        return max(int(wish), MIN_WIDTH)
    return DEFAULT_WIDTH


def choose_color(when: str) -> None:
    """Let all later output use colour ``always``, ``never``, or as the terminal and the environment say (``auto``)."""
    _chosen_color[:] = [when]


_chosen_color = ["auto"]


def choose_quiet(quiet: bool) -> None:
    """Let commands print their result alone, without notices and progress, or (False) all of it."""
    _chosen_quiet[:] = [quiet]


_chosen_quiet = [False]


def is_quiet() -> bool:
    """Return whether the user asked for the result alone (``--quiet``)."""
    return _chosen_quiet[0]


def _color(tty: bool, env: Mapping[str, str]) -> bool:
    if _chosen_color[0] != "auto":
        return _chosen_color[0] == "always"
    if env.get("NO_COLOR"):
        return False
    force = env.get("FORCE_COLOR", "").strip().lower()
    if force:
        return force not in ("0", "false")
    return tty and env.get("TERM", "").lower() not in ("dumb", "unknown")


def _is_unicode(file: TextIO) -> bool:
    encoding = getattr(file, "encoding", None)
    if encoding is None:  # io.StringIO: text stays text
        return True
    try:
        return codecs.lookup(encoding).name.startswith("utf")
    except (LookupError, TypeError):
        return False
