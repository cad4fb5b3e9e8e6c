"""Text from scripts, made harmless to print, and broken into lines without losing a character.

Widths are in terminal cells: a Chinese character takes two.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

#: Longer names (not source lines) lose their middle. Real names of ops and functions stay well below.
NAME_LIMIT = 400
#: A message on one line, which may quote several names.
LINE_LIMIT = 1500
#: A name is broken after one of the first characters, if it must be broken; source code after one of the second.
_BREAK_NAME = frozenset("/_.,:;-)]}=|&\\")
_BREAK_CODE = frozenset("([{,=+*/|&:")
#: A number stays with its unit: what stands before the space between them, and after it.
_NUMBER_END = re.compile(r"\d")
_UNIT = re.compile(r"(?:%|x|[mµun]?s|[KMGT]?i?B|[KMGT]?FLOPs?|[KMGT]?Hz)(?:/s)?(?![\w])")

#: Characters that the words of findings are likely to hold, for streams that know ASCII only. The rest is escaped.
_IN_ASCII = str.maketrans(
    {
        "·": "|",
        "–": "-",
        "—": "-",
        "→": "->",
        "←": "<-",
        "×": "x",
        "µ": "u",
        "…": "...",
        "≤": "<=",
        "≥": ">=",
        "∈": "in",
        "±": "+-",
        "≈": "~",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
    }
)


def visible(text: str, *, unicode: bool = True) -> str:
    """``text`` on one line, with everything invisible or dangerous written out: ``\\x1b``, ``\\n``, ``\\u202e``.

    Control and escape characters, direction marks, lone surrogates and other characters without a shape are
    escaped; a tab or an odd space becomes a space. With ``unicode`` False the result is pure ASCII (→ is ->).
    """
    if text.isascii():
        return text if text.isprintable() else "".join(map(_show_character, text))
    shown = "".join(map(_show_character, text))
    return shown if unicode else shown.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def one_line(text: str, *, unicode: bool = True) -> str:
    """Return a message of ours, with whatever names and errors of others it quotes, as one harmless line of bounded
    length."""
    return visible(shorten(text.strip(), LINE_LIMIT, " ... "), unicode=unicode)


@lru_cache(maxsize=4096)
def _show_character(char: str) -> str:
    """Return a character as it is shown."""
    # Variation selectors are "printable" but have no shape, and change the width of what stands before them.
    if char.isprintable() and not "\ufe00" <= char <= "\ufe0f" and not "\U000e0100" <= char <= "\U000e01ef":
        return char
    if char == "\t" or unicodedata.category(char) == "Zs":
        return " "
    if char in "\n\r":
        return "\\n" if char == "\n" else "\\r"
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, limit: int = NAME_LIMIT, ellipsis: str = "…") -> str:
    """``text`` with its middle replaced by ``ellipsis`` if it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    keep = max(limit - len(ellipsis), 2)
    return text[: keep - keep // 2] + ellipsis + text[-(keep // 2) :]


def cells(text: str) -> int:
    """Return the width of ``text`` on a terminal, in cells. Never less than what the terminal uses."""
    if text.isascii():
        return len(text)
    from rich.cells import get_character_cell_size

    return sum(map(get_character_cell_size, text))


def indent_of(text: str) -> int:
    """Return how many spaces ``text`` starts with."""
    return len(text) - len(text.lstrip(" "))


def hang_of(text: str, width: int) -> int:
    """Return how far to indent the lines on which ``text`` goes on, in a column of ``width``."""
    return min(indent_of(text) + (4 if width >= 60 else 2), width // 2)


def spans(text: str, width: int, rest: int | None = None, *, exact: bool = False) -> list[tuple[int, int]]:
    """Return (start, end) of the lines of ``text``: at most ``width`` cells, ``rest`` after the first.

    Breaks at spaces if it can, else after a sign such as ``/`` or ``_``, else anywhere. The spaces at a break are
    left out, unless ``exact`` (source code): then every character is in one of the lines, in its order.
    """
    result: list[tuple[int, int]] = []
    start, size, limit = 0, len(text), max(width, 1)
    while True:
        end = _reach(text, start, limit)
        if end >= size:
            return [*result, (start, size)]
        cut = _break_code(text, start, end) if exact else _break(text, start, end)
        result.append((start, cut))
        start = cut
        if not exact:
            while start < size and text[start] == " ":
                start += 1
            if start == size:
                return result
        limit = max(width if rest is None else rest, 1)


def _reach(text: str, start: int, limit: int) -> int:
    """Return the furthest end such that ``text[start:end]`` fits into ``limit`` cells; at least one character on."""
    end = min(start + limit, len(text))
    if text[start:end].isascii():
        return end
    from rich.cells import get_character_cell_size

    used = 0
    # Marks that combine take no cell: bounded, so that a million of them make no line of a million characters.
    for index in range(start, min(len(text), start + 4 * limit)):
        used += get_character_cell_size(text[index])
        if used > limit:
            return max(index, start + 1)
    return min(len(text), start + 4 * limit)


def _break(text: str, start: int, end: int) -> int:
    """Return the best place in ``text[start:end]`` to break before ``end``: a space, else after a sign, else
    anywhere."""
    first = start + indent_of(text[start:end])
    space = end if text[end] == " " else text.rfind(" ", first + 1, end)
    if space > first and _UNIT.match(text, space + 1) and _NUMBER_END.match(text, space - 1):
        earlier = text.rfind(" ", first + 1, space)  # a unit stays with its number, if it can
        space = earlier if earlier > first else space
    return space if space > first else _last_break(text, first + 1, end, _BREAK_NAME) or end


def _break_code(text: str, start: int, end: int) -> int:
    """As ``_break``, but no line is left half empty for the sake of a space, and a dot goes with what it selects."""
    first = start + indent_of(text[start:end])
    half = first + (end - first) // 2
    space = text.rfind(" ", half, end) + 1
    sign = _last_break(text, half, end, _BREAK_CODE)
    dot = text.rfind(".", half, end)
    earlier = _last_break(text, first + 1, half, _BREAK_CODE | {" "})
    return next((cut for cut in (space, sign, dot, earlier) if cut > first), end)


def _last_break(text: str, start: int, end: int, signs: frozenset[str]) -> int:
    """Return the place after the last of ``signs`` in ``text[start:end]``; 0 if there is none."""
    return next((index for index in range(end, start, -1) if text[index - 1] in signs), 0)


def wrap(text: str, width: int, rest: int | None = None) -> list[str]:
    """``text`` as lines of at most ``width`` cells (``rest`` after the first), broken between words if possible."""
    return [text[start:end] for start, end in spans(text, width, rest)]
