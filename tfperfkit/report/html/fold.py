"""The first screen: what to fix first, what it gains, where a step's time goes. The data are those of the verdict."""

from __future__ import annotations

from typing import Any

from tfperfkit.model import Finding, Report
from tfperfkit.report import numbers
from tfperfkit.report.html.colors import color_of
from tfperfkit.report.html.sparkline import draw_sparkline
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import label_part, name, place, text
from tfperfkit.report.saved import saved_seconds
from tfperfkit.report.terminal import Screen
from tfperfkit.report.trials import verdict_words
from tfperfkit.report.verdict.block import choose_first, list_warnings, no_cause_words
from tfperfkit.report.verdict.commands import list_commands
from tfperfkit.report.verdict.conclusion import CALLS, is_good, list_calls, list_reasons, why_words
from tfperfkit.report.verdict.findings import cost_items, factor_words, first_sentence, remarks_on_gain, saved_of_run
from tfperfkit.report.verdict.header import header_items
from tfperfkit.report.verdict.time import choose_whole, list_shares

_WORDS, _THEN = 20, 3
#: A rest of a bar below this share is none.
_NOTHING = 0.005


def make_fold(report: Report, anchors: dict[int, str], rules: Rules) -> dict[str, Any]:
    """Return what the template shows first. ``anchors``: the address of each finding's card by ``id`` of the finding.

    ``tone``: "bad" with a finding to fix first, "good" without a fault, else "open".
    """
    first, then = choose_first(report)
    folder = report.run.folder
    screen = _screen(report)
    warnings = list_warnings(report)
    bar = _bar(report, first, rules)
    shown = {
        "header": " · ".join(name(item) for item in header_items(report, screen)),
        "then": [
            _then(number, finding, anchors, folder) for number, finding in enumerate(then[:_THEN], 1 + bool(first))
        ],
        "left": max(len(then) - _THEN, 0),
        "label": "Then" if first is not None else "Also",
        "bar": bar,
        "sparkline": draw_sparkline(report),
        "warning": text(warnings[0], folder) if warnings else "",
        "commands": _commands(report, first),
    }
    return shown | (_first(first, anchors, report) if first is not None else _no_first(report))


def _first(finding: Finding, anchors: dict[int, str], report: Report) -> dict[str, Any]:
    """The finding to fix first: cause, place, change, gain."""
    folder = report.run.folder
    where = finding.where[0] if finding.where else None
    measured = finding.measured
    saved = saved_of_run(finding, report, _screen(report))
    factor = factor_words(finding)
    return {
        "tone": "bad",
        "title": shorten_title(text(finding.title, folder)),
        "anchor": anchors.get(id(finding), ""),
        "code": name(finding.code),
        "at": place(where, folder) if where is not None else "",
        "line": name(report.source.get(f"{where.file}:{where.line}", "").strip()) if where is not None else "",
        "change": text(finding.advice, folder),
        "measured": text(verdict_words(measured)) if measured is not None else "",
        "gain": [name(part) for part in (saved, factor) if part],
        "remarks": [text(item, folder) for item in remarks_on_gain(finding, _screen(report))],
        "cost": " · ".join(cost_items(finding)),
        "share": next(iter(cost_items(finding)), ""),
        "has_patch": bool(finding.patch),
    }


def _no_first(report: Report) -> dict[str, Any]:
    """Why nothing comes first: no fault, no cause, or mostly startup."""
    conclusion = report.conclusion
    folder = report.run.folder
    if conclusion is None:
        unseen = report.steps.note
        return {
            "tone": "open",
            "title": "No cause found",
            "why": no_cause_words(report),
            "reasons": [("steps", text(unseen, folder))] if unseen else [],
        }
    screen = _screen(report)
    calls = list_calls(conclusion, report, screen)
    reasons = list_reasons(conclusion, report, screen)
    if calls:
        reasons.append(("calls", " · ".join([f"{CALLS} {calls[0]}", *calls[1:]])))
    return {
        "tone": "good" if is_good(conclusion) else "open",
        "title": shorten_title(text(conclusion.verdict.partition(",")[0], folder)),
        "why": text(why_words(conclusion, report), folder),
        "reasons": [(label, text(said, folder)) for label, said in reasons],
    }


def shorten_title(title: str) -> str:
    """Return at most the first 20 words of a title."""
    words = title.split()
    return title if len(words) <= _WORDS else f"{' '.join(words[:_WORDS])} …"


def _then(number: int, finding: Finding, anchors: dict[int, str], folder: str) -> dict[str, Any]:
    """Return a further finding in a row."""
    return {
        "number": number,
        "code": name(finding.code),
        "anchor": anchors.get(id(finding), ""),
        "title": shorten_title(text(finding.title, folder)),
        "at": place(finding.where[0], folder) if finding.where else "",
        "change": text(first_sentence(finding.advice), folder),
        "gain": ", ".join(part for part in (saved_seconds(finding), factor_words(finding)) if part),
    }


def _commands(report: Report, first: Finding | None) -> list[dict[str, str]]:
    """The commands on the first finding that a reader of a page types: measuring it, and its patch."""
    wanted = {"measure it": "measure", "patch": "patch"}
    known = list_commands(report, first, "", _screen(report))
    return [{"label": wanted[label], "command": name(command)} for label, command in known if label in wanted]


def _bar(report: Report, first: Finding | None, rules: Rules) -> dict[str, Any] | None:
    """The labelled bar of the verdict; None if there is no account of anything."""
    whole = choose_whole(report, first, _screen(report))
    if whole is None:
        return None
    shares = list_shares(whole)
    rest = 1 - sum(shares.values())
    parts = [
        {
            "label": label_part(part),
            "share": numbers.short(share, "share"),
            "grow": rules.grow(share),
            "color": rules.color(color_of(part)),
        }
        for part, share in [*shares.items(), *([("other", rest)] if rest > _NOTHING else [])]
    ]
    spoken = ", ".join(f"{part['label']} {part['share']}" for part in parts)
    return {"label": name(whole.label.capitalize()), "time": whole.time, "parts": parts, "spoken": spoken}


def _screen(report: Report) -> Screen:
    """Return what the verdict's words are made for: places are short from the script's folder."""
    return Screen(folder=report.run.folder)
