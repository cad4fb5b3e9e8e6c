"""The few shapes of line that the report is made of. Every function gives lines no wider than the screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import cells, hang_of, indent_of, shorten, spans, visible, wrap

#: Prose wider than this is hard to read, however wide the terminal. Tables may be wider.
PROSE_WIDTH = 100
#: Words of a script longer than this (a whole log as advice) are shortened in the middle.
PROSE_LIMIT = 8_000

LABEL = "dim"


def prose(text: str, screen: Screen, *, indent: int = 0, label: str = "", style: str = "") -> list[Text]:
    """Return paragraphs, wrapped between words below each other; ``label`` is in the indentation of the first line.

    Line breaks and indentation inside ``text`` are kept.
    """
    result = [line for paragraph in _paragraphs(text, screen) for line in _wrapped(paragraph, screen, indent, style)]
    if label and result:
        result[0] = labelled(label, result[0], indent)
    return result


def described(text: str, screen: Screen, *, indent: int) -> list[Text]:
    """Sentences as ``prose``; lines that begin with a space are columns, code or differences, and kept as they are:
    what is too wide goes on below, further in, with nothing lost.
    """
    result: list[Text] = []
    for paragraph in _paragraphs(text, screen):
        layout = _verbatim if paragraph.startswith(" ") else _wrapped
        result += layout(paragraph, screen, indent)
    return result


def _wrapped(paragraph: str, screen: Screen, indent: int, style: str = "") -> list[Text]:
    width = max(min(screen.width, PROSE_WIDTH) - indent, 20)
    margin = min(indent_of(paragraph), width // 2)
    pieces = wrap(paragraph[margin:].strip(" "), width - margin)
    return [trimmed(Text(" " * (indent + margin)).append(piece, style)) for piece in pieces]


def _verbatim(paragraph: str, screen: Screen, indent: int) -> list[Text]:
    width = max(screen.width - indent, 20)
    hang = hang_of(paragraph, width)
    pieces = spans(paragraph, width, width - hang, exact=True)
    margins = [indent, *(indent + hang for _ in pieces[1:])]
    lines = (Text(" " * margin + paragraph[start:end]) for margin, (start, end) in zip(margins, pieces, strict=True))
    return [trimmed(line) for line in lines]


def joined(items: Sequence[str], screen: Screen, *, indent: int = 0, label: str = "", style: str = "") -> list[Text]:
    """Short items in a row, with dots between them; broken between items, and inside one only if it must be."""
    width = max(min(screen.width, PROSE_WIDTH) - indent, 20)
    dot = screen.symbols.dot
    lines: list[str] = []
    for item in items:
        if lines and cells(lines[-1]) + len(dot) + cells(item) <= width:
            lines[-1] += dot + item
        else:
            lines.extend(wrap(item, width, width - 2) if cells(item) > width else [item])
    result = [Text(" " * indent).append(line, style) for line in lines]
    if label and result:
        result[0] = labelled(label, result[0], indent)
    return result


def heading(title: str, aside: str, screen: Screen, *, aside_style: str = LABEL) -> list[Text]:
    """Return a rule across the screen with a title in it, and ``aside`` after the title."""
    rule = screen.symbols.rule
    title = shorten(title, 200, screen.symbols.ellipsis)
    size = cells(title) + 4 + (cells(aside) + len(screen.symbols.dot) if aside else 0)
    if size > screen.width:  # too much for a rule
        return [*prose(title, screen, style="bold"), *prose(aside, screen, style=aside_style)]
    line = Text(rule * 2 + " ", LABEL).append(title, "not dim bold")
    if aside:
        line.append(screen.symbols.dot, LABEL).append(aside, f"not dim {aside_style}" if aside_style != LABEL else "")
    tail = min(screen.width, 2 * PROSE_WIDTH) - line.cell_len - 1
    return [line.append(" " + rule * tail if tail > 1 else "", LABEL)]


def labelled(label: str, line: Text, indent: int, *, start: int = 0) -> Text:
    """``line``, which is indented by ``indent``, with ``label`` in its margin from ``start`` on."""
    margin = Text(" " * start).append(label.ljust(indent - start), LABEL)
    return margin.append_text(line[indent:])


def trimmed(line: Text) -> Text:
    """``line`` without spaces at its end."""
    line.rstrip()
    return line


def _paragraphs(text: str, screen: Screen) -> list[str]:
    """Return the lines of a text of several lines, harmless; blank ones at both ends are dropped."""
    text = shorten(text, PROSE_LIMIT, "\n...\n" if "\n" in text else "...")
    lines = [visible(line.expandtabs(4), unicode=screen.unicode).rstrip(" ") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines
