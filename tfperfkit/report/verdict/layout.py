"""The shapes of the verdict's lines: a margin of 12 cells with a label inside, and text next to the margin."""

from __future__ import annotations

from rich.text import Text

from tfperfkit.report.layout import LABEL, joined, labelled, prose
from tfperfkit.report.paths import name, with_short_paths
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import cells

#: Columns at which text begins, and at which a label inside a block begins.
MARGIN, INSIDE = 12, 2


def heading_lines(label: str, text: str, screen: Screen, *, style: str, code: str = "") -> list[Text]:
    """``FIX FIRST   title  CODE``: the label in the margin (a longer one pushes the first line to the right)."""
    gap = " " * max(MARGIN - cells(label), 3)
    words = name(with_short_paths(text, screen.folder), screen)
    # The label takes part in the breaking of lines, as a word that can't be broken.
    stand_in = "x" * (cells(label) + len(gap) - MARGIN)
    lines = prose(stand_in + words, screen, indent=MARGIN, style="bold") or [Text(" " * MARGIN)]
    first = Text(label, style).append(gap).append(lines[0].plain[MARGIN + len(stand_in) :], "bold")
    lines[0] = first
    if code:
        if lines[-1].cell_len + 2 + cells(code) <= screen.width:
            lines[-1].append("  ").append(code, "dim")
        else:
            lines += prose(code, screen, indent=MARGIN, style="dim")
    return lines


def inside(label: str, text: str, screen: Screen, *, at_most: int = 99, style: str = "") -> list[Text]:
    """``  change    text``: at most so many lines; of more the whole sentences that fit are kept."""
    words = with_short_paths(text, screen.folder)
    lines = prose(words, screen, indent=MARGIN, style=style)
    while len(lines) > at_most and (shorter := _drop_sentence(words)) != words:
        words = shorter
        lines = prose(words, screen, indent=MARGIN, style=style)
    if len(lines) > at_most:
        lines = lines[:at_most]
        lines[-1] = one_line(f"{lines[-1].plain[MARGIN:]} {screen.symbols.ellipsis}", screen, style=style)
    if lines:
        lines[0] = labelled(label, lines[0], MARGIN, start=INSIDE)
    return lines


def items(label: str, parts: list[str], screen: Screen) -> list[Text]:
    """``  cost      81 % of the step · 60 % of the run``"""
    lines = joined(parts, screen, indent=MARGIN) if parts else []
    if lines:
        lines[0] = labelled(label, lines[0], MARGIN, start=INSIDE)
    return lines


def one_line(text: str, screen: Screen, *, indent: int = MARGIN, style: str = "") -> Text:
    """``text`` on one line, its end left out if it is too long."""
    return Text(" " * indent).append(fit(text, screen.width - indent, screen), style)


def row(label: str, text: str, screen: Screen, *, style: str = "") -> Text:
    """``RUN 88 s    training 75 % · imports 15 %``: a label in the margin, and text that ends where the screen does."""
    shown = fit(label, screen.width // 2, screen)
    margin = shown.ljust(MARGIN) if cells(shown) < MARGIN else f"{shown} "
    return Text(margin, LABEL).append(fit(text, screen.width - cells(margin), screen), style)


def fit(text: str, width: int, screen: Screen) -> str:
    """``text`` in at most ``width`` cells, its end left out if it is too long."""
    if cells(text) <= width:
        return text
    mark = screen.symbols.ellipsis
    kept = text[: max(width, 0)]
    while kept and cells(kept) + cells(mark) > width:
        kept = kept[:-1]
    return kept.rstrip() + mark


def _drop_sentence(text: str) -> str:
    """Return the text without its last sentence; unchanged if it has only one."""
    ends = [index for index in range(len(text) - 2) if text[index] in ".!?" and text[index + 1] in " \n"]
    return text[: ends[-1] + 1] if ends else text
