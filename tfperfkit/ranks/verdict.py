"""The verdict on a training by several ranks: the end of their report, in the shape of the verdict on one run."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from tfperfkit.model import Finding
from tfperfkit.ranks import words
from tfperfkit.ranks.parts import Whole
from tfperfkit.report.layout import joined, prose
from tfperfkit.report.paths import name, place
from tfperfkit.report.terminal import Screen
from tfperfkit.report.verdict.block import HEIGHT
from tfperfkit.report.verdict.commands import folder_handle, two_columns
from tfperfkit.report.verdict.findings import factor_words, then_lines
from tfperfkit.report.verdict.layout import MARGIN, heading_lines, inside, items, one_line

#: Lines of a warning, and of what to change.
_WARNING, _CHANGE = 3, 3
_THEN = 4


def verdict_lines(whole: Whole, folder: Path, screen: Screen) -> list[Text]:
    """At most ``HEIGHT`` lines on a screen of 80 columns: ranks that are missing, what to fix first and then, commands.

    The late rank comes first, else the finding that most ranks have.
    """
    found = [(finding, ranks) for finding, ranks in words.gather(whole) if not finding.is_note]
    if whole.cause is not None and whole.late is not None:
        reason = (whole.cause.code, [whole.late])
        found = [(finding, ranks) for finding, ranks in found if (finding.code, ranks) != reason]
    late = whole.findings[0] if whole.findings else None
    first, ranks = (late, "") if late is not None else (None, "")
    if late is None and found:
        first, ranks = found[0][0], words.name_ranks(whole, found[0][1])
        found = found[1:]
    warned = [line for text in words.warnings(whole) for line in prose(text, screen, style="bold yellow")[:_WARNING]]
    above = [joined(["tfperf", *words.first_line(whole, screen.symbols)], screen, style="bold"), warned]
    main = _first(first, ranks, whole, screen) if first is not None else _none(whole, screen)
    below = _commands(whole, first, folder, screen)
    lines: list[Text] = []
    for count in range(min(len(found), _THEN), -1, -1):
        more = [line for number, each in enumerate(found[:count]) for line in _then(number, each, whole, screen)]
        blocks = [block for block in (*above, main, more, below) if block]
        lines = [line for block in blocks for line in (*block, Text())][:-1]
        if len(lines) <= HEIGHT:
            return lines
    return [line for line in lines if line.plain]


def _first(finding: Finding, ranks: str, whole: Whole, screen: Screen) -> list[Text]:
    """Return the block of the first finding. ``ranks``: those that have it, "" for the late one."""
    known = not finding.is_note
    label, change = ("FIX FIRST", "change") if known else ("NO CAUSE FOUND", "look")
    style = "bold red" if known else "bold yellow"
    lines = heading_lines(label, finding.title, screen, style=style, code=name(finding.code, screen))
    lines += inside(change, finding.advice, screen, at_most=_CHANGE)
    lines += items("at", [place(span, screen) for span in finding.where[:1]], screen)
    lines += items("gain", [f"predicted: {gain}" if (gain := factor_words(finding)) else "not predicted"], screen)
    if ranks:
        return lines + items("ranks", [ranks], screen)
    return lines + inside("cost", words.late_words(whole, screen.symbols), screen, at_most=_CHANGE)


def _then(number: int, found: tuple[Finding, list[str]], whole: Whole, screen: Screen) -> list[Text]:
    """Return two lines on a further finding, and the ranks that have it."""
    finding, ranks = found
    lines = then_lines(number + 2, finding, screen, "THEN" if not number else "")
    return [*lines, one_line(f"on {words.name_ranks(whole, ranks)}", screen, indent=MARGIN + 2, style="dim")]


def _none(whole: Whole, screen: Screen) -> list[Text]:
    """Return why there is nothing to fix first."""
    why = "no rank is known to be late, and no rank has a finding"
    if not any(part.steps for part in whole.parts):
        why = "no training steps were found"
    return heading_lines("NO CAUSE FOUND", why, screen, style="bold yellow")


def _commands(whole: Whole, first: Finding | None, folder: Path, screen: Screen) -> list[Text]:
    """Return the commands for the late rank or the first one, for the finding, and for the page of all ranks."""
    if not whole.parts:
        return []
    one = next((part for part in whole.parts if part.label == whole.late), whole.parts[0])
    handle = folder_handle(str(folder), screen)
    pairs = [("one rank", f"tfperf report {folder_handle(f'{folder}/{one.name}', screen)} --full")]
    if first is not None:
        pairs.append(("explain", f"tfperf explain {name(first.code, screen)}"))
    pairs.append(("HTML", f"tfperf report {handle} --html ranks.html"))
    if len(whole.parts) > words.MAX_ROWS:
        pairs.append(("all ranks", f"tfperf report {handle} --json ranks.json"))
    return two_columns(pairs, screen)
