"""The findings in full: what costs, how much it gains, where, what was measured, what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from tfperfkit.model import Finding, Measured, OnceFixed, Report
from tfperfkit.records.gains import Gain, UpTo, finite
from tfperfkit.report import numbers
from tfperfkit.report.layout import described, heading, joined, labelled, prose
from tfperfkit.report.patch import patch_lines
from tfperfkit.report.paths import name, place, with_short_paths
from tfperfkit.report.saved import name_ties, nearly_goes, saved_words
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import cells, wrap
from tfperfkit.report.trials import detail_items, verdict_words

_SEVERITY = {"high": "bold red", "medium": "bold yellow", "low": "cyan", "info": "blue"}
#: The share of the run is reported where it is no sliver, and another figure than the share of the step.
_MIN_OF_RUN, _MUCH = 0.01, 0.9
_INDENT = 3
_LABELLED = 13
#: Words for the place of a measurement, if the name of the window says too little.
_WINDOWS = {"baseline": "clean steps", "run": "whole run", "samples": "stack samples"}
#: So many places are listed; the JSON report has them all.
_PLACES = 6


def finding_sections(report: Report, screen: Screen) -> list[Text]:
    """Return the section of the findings, and that of the notes."""
    reported = [finding for finding in report.findings if not finding.is_note]
    notes = [finding for finding in report.findings if finding.is_note]
    lines = reported_findings(reported, screen)
    return lines + _note_lines(notes, bool(lines), screen)


def reported_findings(reported: Sequence[Finding], screen: Screen) -> list[Text]:
    """Return the section of these findings; nothing if there are none."""
    lines: list[Text] = []
    if reported:
        count = len(reported)
        small = "small " if all(item.severity == "low" and item.basis != "risk" for item in reported) else ""
        order = "costliest first" if count > 1 else ""
        about = f"{order}{', ' * bool(order)}a few per cent" if small else order
        lines += heading(f"{count} {small}finding{'s' * (count > 1)}", about, screen)
        for number, finding in enumerate(reported, 1):
            lines += [Text(), *_finding_lines(number, finding, screen)]
    return lines


def headroom_section(report: Report, screen: Screen) -> list[Text]:
    """Return the gains of other choices, if no finding comes first: a few lines each."""
    if not report.headroom:
        return []
    lines = heading("headroom", "choices that would be faster", screen)
    for finding in report.headroom:
        title = f"{name(with_short_paths(finding.title, screen.folder), screen)}  {name(finding.code, screen)}"
        lines += [Text(), *prose(title, screen, indent=_INDENT, style="bold"), *_room(finding, screen)]
        places = [place(span, screen) for span in finding.where[:1]]
        lines += _labelled("at", [line for text in places for line in prose(text, screen, indent=_LABELLED)])
        lines += _labelled("try", prose(with_short_paths(finding.advice, screen.folder), screen, indent=_LABELLED))
        lines += _labelled("patch", patch_lines(finding.patch, screen, _LABELLED))
        lines += _labelled(
            "detail", described(with_short_paths(finding.detail, screen.folder), screen, indent=_LABELLED)
        )
    return lines


def _room(finding: Finding, screen: Screen) -> list[Text]:
    """``2.4x as fast (1.9x to 3.1x)``, ``at least 1.3x as fast``: for the same number of examples."""
    gain = finite(finding.gain)
    if gain.likely is not None:
        text = f"{numbers.speedup(gain.likely)} the examples a second{range_words(gain)}"
        return prose(text, screen, indent=_INDENT, style="bold green")
    if gain.low is not None:
        text = f"at least {numbers.speedup(gain.low)} the examples a second"
        return prose(text, screen, indent=_INDENT, style="bold green")
    return prose("gain unknown: try it", screen, indent=_INDENT, style="dim")


def range_words(gain: Gain) -> str:
    """``" (1.9x to 3.1x)"``; "" for a gain without a range, or one whose ends look alike."""
    low, high = map(numbers.speedup, gain.bounds or (1.0, 1.0))
    return f" ({low} to {high})" if low != high else ""


def _note_lines(notes: Sequence[Finding], space: bool, screen: Screen) -> list[Text]:
    """Return an observation without a predicted gain: its title, its place and its remedy."""
    if not notes:
        return []
    lines = [Text()] * space + heading("notes", "no predicted gain", screen)
    for finding in notes:
        at = f" at {place(finding.where[0], screen)}" if finding.where else ""
        text = f"{name(finding.code, screen)}  {name(with_short_paths(finding.title, screen.folder), screen)}{at}"
        lines += prose(text, screen, indent=_INDENT)
        lines += prose(with_short_paths(finding.advice, screen.folder), screen, indent=_LABELLED, style="dim")
    return lines


def _finding_lines(number: int, finding: Finding, screen: Screen) -> list[Text]:
    """Return the lines of a finding."""
    lines = _title_lines(number, finding, screen)
    lines += _gain(finding, screen)
    if finding.measured is not None:
        lines += _labelled("proof", _proof(finding.measured, screen))
    places = [place(span, screen) for span in finding.where]
    for index, text in enumerate(places[:_PLACES]):
        lines += _labelled("at" if index == 0 else "", prose(text, screen, indent=_LABELLED))
    if len(places) > _PLACES:
        more = len(places) - _PLACES
        lines += prose(f"and {more} more place{'s' * (more != 1)}", screen, indent=_LABELLED, style="dim")
    lines += _labelled("measured", _evidence(finding, screen))
    lines += _labelled("fix", prose(with_short_paths(finding.advice, screen.folder), screen, indent=_LABELLED))
    lines += _labelled("patch", patch_lines(finding.patch, screen, _LABELLED))
    lines += _labelled("detail", described(with_short_paths(finding.detail, screen.folder), screen, indent=_LABELLED))
    page = f"tfperf explain {name(finding.code, screen)}"
    return lines + _labelled("more", prose(page, screen, indent=_LABELLED, style="dim"))


def proof_words(item: Measured, screen: Screen) -> str:
    """``_proof`` on one line, without its reason."""
    items = [verdict_words(item), *detail_items(item, screen), f"by {name(item.experiment, screen)}"]
    return screen.symbols.dot.join(items)


def _proof(item: Measured, screen: Screen) -> list[Text]:
    """``1.8x faster · 95 %: 1.7x to 1.9x, 3 pairs · the same results, bit for bit · by jit``"""
    items = [verdict_words(item), *detail_items(item, screen), f"by {name(item.experiment, screen)}"]
    lines = joined(items, screen, indent=_LABELLED)
    return lines + (prose(name(item.reason, screen), screen, indent=_LABELLED) if item.reason else [])


def _title_lines(number: int, finding: Finding, screen: Screen) -> list[Text]:
    """Return the lines of a title: ``1  ● HIGH  The data set is loaded again in every step  INP001``."""
    style = _SEVERITY.get(finding.severity, "")
    first = Text().append(f"{number}".ljust(_INDENT - 1) + " ", "bold")
    first.append(f"{screen.symbols.mark} {finding.severity.upper()}", style).append("  ")
    indent = first.cell_len
    code = name(finding.code, screen)
    pieces = wrap(name(with_short_paths(finding.title, screen.folder), screen), max(screen.width - indent, 20))
    lines = [first.append(pieces[0], "bold"), *(Text(" " * indent).append(piece, "bold") for piece in pieces[1:])]
    if cells(lines[-1].plain) + 2 + cells(code) <= screen.width:
        lines[-1].append("  ").append(code, "dim")
        return lines
    return [*lines, *prose(code, screen, indent=indent, style="dim")]


def _gain(finding: Finding, screen: Screen) -> list[Text]:
    """``step 12x faster (11x to 13x) · takes 97.9 % of the step``"""
    items, certain = [], False
    gain = finite(finding.gain)
    if gain.likely is None and gain.low is not None:
        items.append(f"{place_subject(finding)} at least {numbers.speedup(gain.low)} faster")
    elif gain.likely is None:
        items.append(unknown_words(gain))
    elif gain.likely < 1.005:
        items.append(f"no gain in the time of {'a step' if not finding.work else 'this work'}")
    else:
        items.append(_say_faster(finding, gain))
        certain = True
        if finding.once is not None:
            items.append(name(once_words(finding.once), screen))
    said = certain or items[0].startswith(place_subject(finding))
    of = "it" if said and (finding.work or finding.subject != "step") else place_subject(finding, "the ")
    if math.isfinite(finding.share_of_step) and finding.share_of_step > 0:
        items.append(f"costs {numbers.alone(finding.share_of_step, 'share', screen.symbols)} of {of}")
        of_run = finding.share_of_run
        if of_run is not None and finding.basis != "run" and _MIN_OF_RUN <= of_run < _MUCH * finding.share_of_step:
            share = f"{numbers.alone(of_run, 'share', screen.symbols)} of the run"
            seconds = finding.costs_s
            items.append(f"{numbers.alone(seconds, 's')}, {share}" if seconds is not None else share)
    if saved := saved_words(finding):
        # A training goes on at the pace of its steps; of other work the user gets back the seconds.
        items.insert(0 if certain and (finding.work or finding.basis == "run") else len(items), saved)
        items += filter(None, [name_ties(finding)])
    lines = joined(items, screen, indent=_INDENT, style="" if certain else "dim")
    if certain:
        lines[0].stylize("bold green", _INDENT, _INDENT + cells(items[0]))
    return lines


def _say_faster(finding: Finding, gain: Gain) -> str:
    """Return ``step 2.0x faster (1.8x to 2.3x)``, or ``the loop at a.py:3: most of it goes``."""
    what = place_subject(finding)
    if nearly_goes(finding):
        return f"{what}: most of it goes"
    return f"{what} {numbers.speedup(gain.likely or 1.0)} faster{range_words(gain)}"


def once_words(once: OnceFixed) -> str:
    """``3.3x (2.4x to 4.9x) once INP002 is fixed``"""
    codes = " and ".join(once.codes)
    then = f"once {codes} {'are' if len(once.codes) > 1 else 'is'} fixed"
    if once.gain.likely is None:
        return f"at least {numbers.speedup(once.gain.low)} {then}"
    return f"{numbers.speedup(once.gain.likely)}{range_words(once.gain)} {then}"


def unknown_words(gain: Gain) -> str:
    """Say that no factor is predicted. The upper end of an ``UpTo`` is left out: it is the finding's share, stated as a
    promise that nobody can make."""
    return "gain unknown" if isinstance(gain, UpTo) else "gain not predicted"


def place_subject(finding: Finding, article: str = "") -> str:
    """Return what gets faster; a loop or call with its place."""
    at_work = finding.work and finding.basis in ("step", "turn")
    return f"the {finding.subject} at {finding.work}" if at_work else f"{article}{finding.subject}"


def _evidence(finding: Finding, screen: Screen) -> list[Text]:
    """Return the figures of each window on a line of their own, after the name of the window."""
    words = {**_WINDOWS, "baseline": f"the {finding.work_kind}"} if finding.work_kind else _WINDOWS
    windows: dict[str, list[str]] = {}
    for item in finding.evidence:
        figure = name(numbers.alone(item.value, name(item.unit, screen), screen.symbols), screen)
        windows.setdefault(name(words.get(item.window, item.window), screen), []).append(
            f"{name(item.name, screen)} {figure}"
        )
    lines: list[Text] = []
    for window, figures in windows.items():
        lines += joined([f"{window}: {figures[0]}" if window else figures[0], *figures[1:]], screen, indent=_LABELLED)
    return lines


def _labelled(label: str, lines: list[Text]) -> list[Text]:
    """``label`` in the margin of the first line."""
    if lines and label:
        lines[0] = labelled(label, lines[0], _LABELLED, start=_INDENT)
    return lines
