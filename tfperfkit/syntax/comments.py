"""Comments of a source file that are meant for tfperf: ``# tfperf: ignore[EAG008]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_IGNORE = re.compile(r"#\s*tfperf:\s*ignore\s*\[([^\]]*)\]")


class Ignore(NamedTuple):
    """A comment at ``line`` (from 1) that silences findings with these ``codes``."""

    line: int
    codes: tuple[str, ...]


def decode_source(source: bytes) -> list[str]:
    """Return the lines of a file as Python reads them; [] if it can't be decoded."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return list(io.TextIOWrapper(io.BytesIO(source), encoding))
    except (SyntaxError, UnicodeError, LookupError):
        return []


def find_ignores(lines: Sequence[str]) -> Mapping[int, tuple[Ignore, ...]]:
    """Return the comments that hold for each line.

    A comment holds for all lines of the statement around the comment, or after the comment. A decorator and its
    function's header are one statement here, for a function's first line is that of its decorator. ``lines`` end with
    newlines, as ``linecache`` returns them.
    """
    if not any("tfperf:" in line for line in lines):
        return {}
    found: dict[int, tuple[Ignore, ...]] = {}
    seen: list[Ignore] = []
    first = 0  # the first line of the statement, or of a comment before it; 0 between statements
    decorated = begun = False
    try:
        for token in tokenize.generate_tokens(iter(lines).__next__):
            if token.type == tokenize.COMMENT:
                comment = _read_comment(token.string, token.start[0])
                seen += comment
                first = first or (token.start[0] if comment else 0)
            elif token.type == tokenize.NEWLINE:
                if not decorated:
                    found |= dict.fromkeys(range(first, token.start[0] + 1), tuple(seen)) if seen else {}
                    first, seen = 0, []
                begun = False
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER) and not begun:
                begun, decorated = True, token.string == "@"
                first = first or token.start[0]
    except (tokenize.TokenError, SyntaxError):  # no Python, such as a cell with a magic: each comment by its line
        for number, line in enumerate(lines, 1):
            comment = _read_comment(line, number)
            if comment:
                found.setdefault(number, tuple(comment))
    return found


def _read_comment(text: str, line: int) -> list[Ignore]:
    return [
        Ignore(line, tuple(filter(None, (code.strip() for code in match[1].split(",")))))
        for match in _IGNORE.finditer(text)
    ]
