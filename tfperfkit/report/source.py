"""Lines of source code: dedented together, highlighted together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfperfkit.report.text import indent_of, visible

if TYPE_CHECKING:
    from rich.text import Text

TAB_SIZE = 4
#: More code than this is printed without colours: lexing it would take longer than reading the report.
_LEX_LIMIT = 200_000
#: Only the terminal's own colours, which its user chose to be readable on the background.
_STYLES = {
    "Token.Comment": "dim",
    "Token.Keyword": "magenta",
    "Token.Operator.Word": "magenta",
    "Token.Literal.String": "green",
    "Token.Literal.Number": "cyan",
    "Token.Name.Decorator": "yellow",
    "Token.Name.Function": "bold",
    "Token.Name.Class": "bold",
}


def clean_source(lines: Sequence[str], *, unicode: bool = True) -> list[str]:
    """Each line harmless, tabs as spaces, without the indentation that all of them share.

    A line keeps its other characters: nothing is shortened. Blank lines do not count for the indentation.
    """
    clean = [visible(line.rstrip("\r\n").expandtabs(TAB_SIZE), unicode=unicode).rstrip(" ") for line in lines]
    common = min((indent_of(line) for line in clean if line), default=0)
    return [line[common:] for line in clean]


def highlight(lines: Sequence[str], language: str) -> list[Text]:
    """Return the lines as rich texts, coloured as ``language``; plain if pygments does not know it."""
    from rich.text import Text

    texts = [Text(line) for line in lines]
    if sum(map(len, lines)) > _LEX_LIMIT:
        return texts
    try:
        from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]

        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        tokens = list(lexer.get_tokens("\n".join(lines)))
    except Exception:  # no pygments, no such language, a lexer's own bug: colours are not worth a report
        return texts
    row = start = 0
    for kind, value in tokens:
        style = _style(str(kind))
        for number, piece in enumerate(value.split("\n")):
            if number:
                row, start = row + 1, 0
            if style and piece and row < len(texts):
                texts[row].stylize(style, start, start + len(piece))
            start += len(piece)
    return texts


def _style(kind: str) -> str:
    while kind:
        if kind in _STYLES:
            return _STYLES[kind]
        kind = kind.rpartition(".")[0]
    return ""
