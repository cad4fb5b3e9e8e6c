"""The whole verdict, fitted to one screen."""

from __future__ import annotations

from rich.text import Text

from tfperfkit.model import Finding, Report
from tfperfkit.records.conclusion import FIRST
from tfperfkit.report.children import beside_the_run, beside_the_step
from tfperfkit.report.layout import prose
from tfperfkit.report.paths import with_short_paths
from tfperfkit.report.silenced import say_silenced
from tfperfkit.report.terminal import Screen
from tfperfkit.report.verdict.commands import command_lines
from tfperfkit.report.verdict.conclusion import conclusion_lines
from tfperfkit.report.verdict.findings import CHANGE, first_lines, then_lines
from tfperfkit.report.verdict.header import header_lines
from tfperfkit.report.verdict.layout import MARGIN, heading_lines
from tfperfkit.report.verdict.time import time_lines

#: Lines of a small terminal.
HEIGHT = 24
_THEN = 4


def verdict_lines(report: Report, screen: Screen, handle: str = "") -> list[Text]:
    """At most ``HEIGHT`` lines on a screen of 80 columns or more. ``handle``: what names the run on a command line."""
    first, then = choose_first(report)
    after = [header_lines(report, screen)]
    below = [time_lines(report, first, screen), _children(report, screen), _warning(report, screen)]
    below.append(prose(say_silenced(report.silenced), screen, style="dim"))
    below.append(command_lines(report, first or next(iter(then), None), handle, screen))
    lines: list[Text] = []
    for change, count in _plans(len(then)):
        main = first_lines(first, report, screen, change) if first is not None else _no_first(report, screen)
        more = _then(then, count, report, screen, number=2 if first is not None else 1)
        blocks = [block for block in (*after, main, more, *below) if block]
        lines = [line for block in blocks for line in (*block, Text())][:-1]
        if len(lines) <= HEIGHT:
            return lines
    tight = [line for line in lines if line.plain]
    return tight if len(lines) > HEIGHT else lines


def choose_first(report: Report) -> tuple[Finding | None, list[Finding]]:
    """Return the finding to fix first, if the conclusion is that one comes first, and the further ones."""
    found = [finding for finding in report.findings if not finding.is_note]
    if found and (report.conclusion is None or report.conclusion.verdict == FIRST):
        return found[0], found[1:]
    return None, found


def _plans(others: int) -> list[tuple[int, int]]:
    """Return how many lines the change may take and how many further findings are shown, the fullest plan first."""
    counts = range(min(others, _THEN), 0 if others else -1, -1)
    return [(CHANGE, count) for count in counts] + [(change, min(others, 1)) for change in range(CHANGE - 1, 1, -1)]


def _no_first(report: Report, screen: Screen) -> list[Text]:
    """Return the conclusion; without one, why there is none."""
    if report.conclusion is not None:
        return conclusion_lines(report.conclusion, report, screen)
    lines = heading_lines("NO CAUSE FOUND", no_cause_words(report), screen, style="bold yellow")
    return lines + prose(report.steps.note, screen, indent=MARGIN, style="dim")


def no_cause_words(report: Report) -> str:
    """Return why a report without findings names no cause."""
    if not any(probe.status in ("ok", "cut") for probe in report.probes):
        return "no probe gave a result"
    if report.steps.count > 0 and report.steps.source != "none":
        return "nothing that was measured explains the time"
    return "no training steps were found"


def _then(found: list[Finding], count: int, report: Report, screen: Screen, *, number: int) -> list[Text]:
    """Two lines for each of the first ``count`` further findings, and how many are left out."""
    label = "THEN" if number > 1 else "ALSO"
    lines: list[Text] = []
    for index, finding in enumerate(found[:count]):
        lines += then_lines(number + index, finding, screen, label if not index else "")
    left = len(found) - count
    if left > 0 and count:
        lines += prose(f"and {left} more in the full report", screen, indent=MARGIN, style="dim")
    return lines


def _children(report: Report, screen: Screen) -> list[Text]:
    """Return the work of the processes that the script started."""
    return [line for text in (beside_the_step(report), beside_the_run(report)) for line in prose(text, screen)]


def _warning(report: Report, screen: Screen) -> list[Text]:
    """Return the warning that matters most; the others are in the full report."""
    notes = list_warnings(report)
    if not notes:
        return []
    more = f" ({len(notes) - 1} more in the full report)" if len(notes) > 1 else ""
    text = f"warning: {with_short_paths(notes[0], screen.folder)}{more}"
    return prose(text, screen, style="yellow")[:3]


def list_warnings(report: Report) -> list[str]:
    """Return what makes the times rough and other notes, the one that matters most first."""
    silenced = say_silenced(report.silenced)
    return [note for note in (*report.overhead.notes, *report.notes) if note != silenced]
