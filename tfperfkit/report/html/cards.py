"""Findings as cards: what to do first, then where, then why that is believed."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from tfperfkit.model import Finding, Report, SourceSpan
from tfperfkit.records.gains import finite
from tfperfkit.report import numbers
from tfperfkit.report.findings import once_words, place_subject, proof_words, range_words, unknown_words
from tfperfkit.report.html.source import Sources
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import figure, name, place, text
from tfperfkit.report.saved import saved_seconds, saved_words
from tfperfkit.report.source import clean_source
from tfperfkit.report.terminal import Screen
from tfperfkit.report.trials import verdict_words
from tfperfkit.report.verdict.findings import factor_words

_WINDOWS = {
    "run": "whole run",
    "samples": "stack samples",
    "breakdown": "breakdown of the step",
}
_MARKS = {"high": "▲", "medium": "◆", "low": "●", "info": "○"}
_EXCERPTS, _PLACES = 2, 8
#: Prefix of the name of a trial of a finding's patch.
_PATCH = "patch:"


def cards(report: Report, sources: Sources, rules: Rules) -> tuple[list[Any], list[Any]]:
    """Return the findings, or else the headroom, and the notes."""
    stepped = report.steps.count > 0
    made: list[dict[str, Any]] = []
    remarks: list[dict[str, Any]] = []
    for finding, anchor in list_anchors(report):
        card = _card(finding, anchor, report.run.folder, sources, rules, stepped=stepped)
        if finding.is_note and not finding.headroom:
            remarks.append(card)
        else:
            made.append(card | {"patch": _patch(finding), "number": len(made) + 1})
    return made, remarks


def list_anchors(report: Report) -> list[tuple[Finding, str]]:
    """Return each finding with its address in the page: its code, and a number from the second of a code on."""
    seen: Counter[str] = Counter()
    made = []
    for finding in (*report.findings, *report.headroom):
        seen[finding.code] += 1
        count = seen[finding.code]
        made.append((finding, name(finding.code if count == 1 else f"{finding.code}-{count}")))
    return made


def gain_words(finding: Finding) -> tuple[str, str]:
    """``("4.3x faster", "the step; 3.5x to 5.3x expected")``; the first "" if no gain is predicted."""
    gain = finite(finding.gain)
    what = (
        f"the {finding.work_kind or 'work'} at {finding.work}"
        if finding.work and finding.basis in ("step", "turn")
        else "the step"
    )
    if finding.basis == "run" and not finding.work:
        what = "the run"
    if gain.likely is None:
        if gain.low is not None:
            return f"at least {numbers.speedup(gain.low)} faster", what
        return "", unknown_words(gain)
    if gain.likely < 1.005:
        return "", "no gain in the time of a step"
    words = what if finding.basis != "turn" else "the training loop"
    if between := range_words(gain).strip(" ()"):
        words += f"; {between} expected"
    if finding.once is not None:
        words += f"; {once_words(finding.once)}"
    return f"{numbers.speedup(gain.likely)} faster", words


def _card(
    finding: Finding, anchor: str, folder: str, sources: Sources, rules: Rules, *, stepped: bool
) -> dict[str, Any]:
    gain, words = gain_words(finding)
    windows = {**_WINDOWS, "baseline": _name_baseline(finding, stepped)}
    return {
        "anchor": anchor,
        "code": name(finding.code),
        "severity": finding.severity,
        "optional": finding.headroom,
        "mark": _MARKS.get(finding.severity, "●"),
        "title": text(finding.title, folder),
        "gain": gain,
        "gain_words": text(words),
        "saved": saved_seconds(finding),
        "factor": factor_words(finding),
        "range": _range(finding, rules),
        "cost": _cost(finding),
        "advice": text(finding.advice, folder),
        "detail": [text(part, folder) for part in finding.detail.split("\n") if part.strip()][:40],
        "places": [_name_place(span, folder) for span in finding.where[:_PLACES]],
        "more_places": max(len(finding.where) - _PLACES, 0),
        "excerpts": _excerpts(finding, sources),
        "evidence": [
            {
                "name": text(item.name),
                "value": figure(item.value, item.unit),
                "window": text(windows.get(item.window, item.window)),
            }
            for item in finding.evidence[:60]
        ],
        "measured": text(proof_words(finding.measured, Screen())) if finding.measured is not None else "",
        "measured_gain": text(verdict_words(finding.measured)) if finding.measured is not None else "",
        "patch_ran": finding.measured is not None and finding.measured.experiment.startswith(_PATCH),
    }


def _name_baseline(finding: Finding, stepped: bool) -> str:
    """Return what was measured without a probe: outside of training steps there are no clean steps."""
    if finding.work_kind:
        return f"the {finding.work_kind}"
    return "clean steps" if stepped else "whole run"


def _name_place(span: SourceSpan, folder: str) -> str:
    """Return the file and line of a place."""
    return place(span, folder) + (f" ({name(span.function)})" if span.function else "")


def _excerpts(finding: Finding, sources: Sources) -> list[Any]:
    """Of places near each other one excerpt shows both."""
    found: list[Any] = []
    shown: list[SourceSpan] = []
    for span in finding.where:
        if any(span.file == other.file and abs(span.line - other.line) <= 3 for other in shown):
            continue
        excerpt = sources.excerpt(span)
        if excerpt is not None and len(found) < _EXCERPTS:
            found.append(excerpt)
            shown.append(span)
    return found


def _cost(finding: Finding) -> str:
    share = finding.share_of_step
    if not math.isfinite(share) or share <= 0:
        return ""
    words = f"costs {figure(share, 'share')} of {place_subject(finding, 'the ')}"
    run = finding.share_of_run
    if run is not None and finding.basis != "run" and math.isfinite(run) and run >= 0.01:
        words += f", {figure(run, 'share')} of the run"
    saved = saved_words(finding)
    return text(f"{words}; {saved}" if saved else words)


def _range(finding: Finding, rules: Rules) -> dict[str, str] | None:
    """Return the expected gain on a scale from 1x to a bit over its upper end, by its logarithm."""
    gain = finite(finding.gain)
    if gain.bounds is None or gain.likely is None or gain.low == gain.high or min(*gain.bounds, gain.likely) <= 0:
        return None
    low, high = sorted(max(end, 1.0) for end in gain.bounds)
    factor = gain.likely
    top = math.log(max(high, factor, 1.0) * 1.15)
    if high <= 1.005 or top <= 0:
        return None
    at = [math.log(max(value, 1.0)) / top for value in (low, high, factor)]
    return {"left": rules.left(at[0]), "width": rules.width(at[1] - at[0]), "at": rules.left(at[2])}


def _patch(finding: Finding) -> str:
    return "\n".join(clean_source(finding.patch.split("\n"))) if finding.patch else ""
