"""The finding to fix first, and those to fix then."""

from __future__ import annotations

import math

from rich.text import Text

from tfperfkit.model import Finding, Report, SourceSpan
from tfperfkit.records.gains import Gain, finite
from tfperfkit.report import numbers
from tfperfkit.report.findings import once_words
from tfperfkit.report.paths import name, place, with_short_paths
from tfperfkit.report.saved import explain_excess, name_ties, nearly_goes, saved_after, saved_seconds
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import cells
from tfperfkit.report.trials import verdict_words
from tfperfkit.report.verdict.layout import MARGIN, fit, heading_lines, inside, items, one_line

#: A gain below this factor is none.
_NO_GAIN = 1.005
_MIN_OF_RUN = 0.01
#: Lines that the remedy may take.
CHANGE = 4


def first_lines(finding: Finding, report: Report, screen: Screen, change: int = CHANGE) -> list[Text]:
    """Return the block of the first finding. ``change``: at most so many lines for its remedy."""
    lines = heading_lines("FIX FIRST", finding.title, screen, style="bold red", code=name(finding.code, screen))
    lines += inside("change", finding.advice, screen, at_most=change)
    lines += _places(finding, report, screen)
    lines += items("gain", _gain(finding, report, screen), screen)
    return lines + items("takes", cost_items(finding), screen)


def then_lines(number: int, finding: Finding, screen: Screen, label: str = "") -> list[Text]:
    """Two lines on a further finding: its number, title and code; its place and what it saves."""
    head, code = f"{number}. ", f"  {name(finding.code, screen)}"
    title = name(with_short_paths(finding.title, screen.folder), screen)
    shown = fit(title, screen.width - MARGIN - cells(head) - cells(code), screen)
    first = Text(label.ljust(MARGIN), "bold").append(head, "dim").append(shown).append(code, "dim")
    where = _bare(finding.where[0], screen) if finding.where else ""
    gains = _list_gains(finding)
    room = screen.width - MARGIN - 2
    text = _joined(where, gains, screen)
    if cells(text) > room:
        text = _joined(where, gains[:1], screen)
    advice = first_sentence(with_short_paths(finding.advice, screen.folder))
    if cells(text) + 2 + cells(advice) <= room:
        text = f"{text}: {advice}" if text else advice
    return [first, one_line(text, screen, indent=MARGIN + 2, style="dim")] if text else [first]


def _joined(where: str, gains: list[str], screen: Screen) -> str:
    """Return ``train.py:41 · predicted: saves 2-4 s, step 1.4x faster``."""
    predicted = f"predicted: {', '.join(gains)}" if gains else ""
    return screen.symbols.dot.join(part for part in (where, predicted) if part)


def _list_gains(finding: Finding) -> list[str]:
    """Return the seconds that a further finding saves, and its factor: after the earlier fixes if these change it."""
    if after := saved_after(finding):
        factor = f"then {_say_factor(finding.once.gain)}" if finding.once is not None else ""
        return [part for part in (after, factor, name_ties(finding)) if part]
    return [part for part in (saved_seconds(finding), factor_words(finding, ranged=False), name_ties(finding)) if part]


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    end = next((index for index in range(len(text) - 1) if text[index] == "." and text[index + 1] in " \n"), len(text))
    return text[: end + 1].strip()


def _places(finding: Finding, report: Report, screen: Screen) -> list[Text]:
    """``  at        eager.py:48  x_train, _ = get_dataset(self.source)``, and a second place below it."""
    if not finding.where:
        return []
    first, *others = finding.where
    lines = items("at", [fit(_with_source(first, report, screen), screen.width - MARGIN, screen)], screen)
    if others:
        more = f" ({len(others) - 1} more)" if len(others) > 1 else ""
        room = screen.width - MARGIN - cells(more)
        lines.append(one_line(fit(_with_source(others[0], report, screen), room, screen) + more, screen, style="dim"))
    return lines


def _with_source(span: SourceSpan, report: Report, screen: Screen) -> str:
    """Return a place with its line of source; with its function if the line is not known."""
    code = name(report.source.get(f"{span.file}:{span.line}", "").strip(), screen)
    return f"{_bare(span, screen)}  {code}" if code else place(span, screen)


def _bare(span: SourceSpan, screen: Screen) -> str:
    """Return a place without its function."""
    return place(SourceSpan(span.file, span.line), screen)


def _gain(finding: Finding, report: Report, screen: Screen) -> list[str]:
    """``predicted: saves 50-56 s of 88 s, step 5.1x faster (4.2x-6.3x)``, or what a trial measured."""
    if finding.measured is not None:
        return [f"measured: {verdict_words(finding.measured)}", f"predicted: {factor_words(finding) or 'no factor'}"]
    parts = ", ".join(part for part in (saved_of_run(finding, report, screen), factor_words(finding)) if part)
    if not parts:
        return ["not predicted"]
    return [f"predicted: {parts}", *remarks_on_gain(finding, screen)]


def saved_of_run(finding: Finding, report: Report, screen: Screen) -> str:
    """Return ``saves 50-56 s of 88 s``; "" if no seconds are predicted."""
    saved = saved_seconds(finding)
    if saved and report.run.wall_s > 0:
        saved += f" of {numbers.short(float(report.run.wall_s), 's', screen.symbols)}"
    return saved


def remarks_on_gain(finding: Finding, screen: Screen) -> list[str]:
    """Return which findings may save as much, and what is paid once."""
    once = [name(once_words(finding.once), screen)] if finding.once is not None else []
    return [*filter(None, [name_ties(finding)]), *once]


def factor_words(finding: Finding, *, ranged: bool = True) -> str:
    """``each step 5.1x faster (4.2x-6.3x)``, the range if ``ranged``; "" if no factor is predicted."""
    gain = finite(finding.gain)
    what = "each step" if finding.subject == "step" else finding.subject
    if gain.likely is None:
        return f"{what} at least {numbers.speedup(gain.low)} faster" if gain.low is not None else ""
    if gain.likely < _NO_GAIN:
        return ""
    if nearly_goes(finding):
        return f"most of the {what} goes"
    low, high = map(numbers.speedup, gain.bounds or (1.0, 1.0))
    return f"{what} {numbers.speedup(gain.likely)} faster{f' ({low}-{high})' if ranged and low != high else ''}"


def _say_factor(gain: Gain) -> str:
    """Return ``2.4x faster``, or ``at least 2.4x faster``."""
    if gain.likely is None:
        return f"at least {numbers.speedup(gain.low or 1.0)} faster"
    return f"{numbers.speedup(gain.likely)} faster"


def cost_items(finding: Finding) -> list[str]:
    """``81 % of the step``, ``60 % of the run``; ``about 12 % of the step`` if the samples leave much open."""
    parts = []
    about = "about " * numbers.is_wide(finding.costs_s, finding.costs_range_s)
    if math.isfinite(finding.share_of_step) and finding.share_of_step > 0:
        parts.append(f"{about}{numbers.short(finding.share_of_step, 'share')} of the {finding.subject}")
    of_run = finding.share_of_run
    if of_run is not None and finding.basis != "run" and math.isfinite(of_run) and of_run >= _MIN_OF_RUN:
        parts.append(f"{numbers.short(of_run, 'share')} of the run")
    return [*parts, *filter(None, [explain_excess(finding)])]
