"""The findings for a program that reads: short, by id, with evidence, source and advice; under ``LIMIT`` bytes.

A figure says in which window it was measured, a gain is the model's range or was measured, and is called so.
"""

from __future__ import annotations

import math
from collections import Counter

from tfperfkit.model import Finding, Measurement, Report, SourceSpan
from tfperfkit.records.gains import finite
from tfperfkit.records.pictures import Album
from tfperfkit.report import numbers
from tfperfkit.report.findings import once_words
from tfperfkit.report.paths import short_path, with_short_paths
from tfperfkit.report.saved import saved_words
from tfperfkit.report.text import shorten, visible

#: Bytes of the whole text.
LIMIT = 4_000
_EVIDENCE, _PLACES = 6, 3
_FOOT = "full: tfperf report RUN --format json | one code: tfperf explain CODE\n"


def agents(report: Report, foot: str = _FOOT) -> str:
    """Plain text, costliest finding first, then what other choices would gain (headroom); what does not fit is counted.
    ``foot``: where the reader finds more."""
    head = _head(report)
    known = identified((*report.findings, *report.headroom))
    blocks = [_write_finding(finding, identity, report) for identity, finding in known]
    made, left = head, len(blocks)
    for block in blocks:
        if len((made + block + foot).encode()) > LIMIT - 60:
            break
        made += block
        left -= 1
    return made + (f"{left} more findings are left out here.\n" if left else "") + foot


def identified(findings: tuple[Finding, ...]) -> list[tuple[str, Finding]]:
    """Each with its id: the code, and a number from the second of a code on, as in the HTML report."""
    seen: Counter[str] = Counter()
    made = []
    for finding in findings:
        seen[finding.code] += 1
        made.append((finding.code if seen[finding.code] == 1 else f"{finding.code}-{seen[finding.code]}", finding))
    return made


def _head(report: Report) -> str:
    steps = report.steps
    said = report.conclusion.text if report.conclusion is not None else report.headline
    lines = [text(said, report, 300) or "No headline: no training step was seen."]
    if steps.median_ms is not None and math.isfinite(steps.median_ms):
        known = steps.p90_ms is not None and math.isfinite(steps.p90_ms)
        p90 = f", p90 {numbers.alone(steps.p90_ms, 'ms')}" if known else ""
        median = numbers.alone(steps.median_ms, "ms")
        lines.append(f"steps {steps.count}, of them clean {steps.clean}: median {median}{p90}")
    parts = sorted((steps.breakdown_ms or {}).items(), key=lambda item: -item[1])
    total = sum(value for _, value in parts)
    if total and math.isfinite(total):
        shares = ", ".join(f"{part} {100 * value / total:.0f} %" for part, value in parts if value >= 0.01 * total)
        source = f" (by {visible(steps.breakdown_window)})" if steps.breakdown_window else ""
        lines.append(f"mean step {numbers.alone(total, 'ms')}{source}: {visible(shares)}")
    lines += [f"note: {text(note, report, 200)}" for note in report.overhead.notes[:1]]
    notes = sum(finding.is_note for finding in report.findings)
    counts = f"findings {len(report.findings) - notes}{f', notes {notes}' if notes else ''}"
    lines.append(f"{counts}{f', headroom {len(report.headroom)}' if report.headroom else ''}")
    return "\n".join(lines) + "\n"


def _write_finding(finding: Finding, identity: str, report: Report) -> str:
    """Return a finding for a coding agent."""
    lines = [
        f"\n[{visible(identity)}] {kind(finding)}: {text(finding.title, report, 200)}",
        f"gain: {gain(finding)}",
    ]
    for span in finding.where[:_PLACES]:
        code = _source(report.album or Album(), span.file, span.line)
        lines.append(f"at: {place(span, report)}{f' | {code}' if code else ''}")
    items = [evidence(item) for item in finding.evidence[:_EVIDENCE]]
    lines += [f"evidence: {shorten('; '.join(items), 400)}", f"do: {text(finding.advice, report, 500)}"]
    if finding.patch:
        lines.append(f"patch: tfperf fix RUN {visible(identity)}")
    return "\n".join(lines) + "\n"


def kind(finding: Finding) -> str:
    """Return how severe it is, or that it is no fault."""
    return "headroom" if finding.headroom else "note" if finding.is_note else finding.severity


def place(span: SourceSpan, report: Report) -> str:
    """FILE:LINE FUNCTION, from the script's folder."""
    return visible(shorten(f"{short_path(span.file, report.run.folder)}:{span.line} {span.function}".strip(), 160))


def evidence(item: Measurement) -> str:
    """Return a figure with its unit and the window in which it was measured."""
    window = f" ({visible(item.window)})" if item.window else ""
    return f"{visible(item.name)} {visible(numbers.alone(item.value, item.unit))}{window}"


def gain(finding: Finding) -> str:
    """Return the measured gain with its interval, the predicted gain with its range, and the cost."""
    of = (
        "of the run"
        if finding.basis == "run"
        else f"of the {finding.work_kind or 'work'} at {finding.work}"
        if finding.work
        else "of the step"
    )
    costs = math.isfinite(finding.share_of_step) and not finding.headroom and finding.basis != "risk"
    cost = f"costs {100 * finding.share_of_step:.1f} % {of}" if costs else ""
    parts = [_predicted(finding), visible(cost), saved_words(finding)]
    if finding.measured is not None and finding.measured.speedup is not None:
        low, high = finding.measured.interval or (math.nan, math.nan)
        known = math.isfinite(low + high)
        none = ", no difference shown" if finding.measured.verdict == "no difference" else ""
        interval = f" (95 %: {low:.2f}x to {high:.2f}x{none})" if known else " in one pair, undecided"
        parts.insert(0, f"measured {finding.measured.speedup:.2f}x{interval}")
    return ", ".join(filter(None, parts))


def _predicted(finding: Finding) -> str:
    gain = finite(finding.gain)
    if gain.likely is not None:
        once = f", {once_words(finding.once)}" if finding.once is not None else ""
        span = f" ({gain.low:.2f}x to {gain.high:.2f}x)" if gain.low != gain.high else ""
        return f"predicted {gain.likely:.2f}x{span}{visible(once)}"
    if gain.low is not None:
        unit = " the examples a second" if finding.headroom else ""
        return f"predicted at least {gain.low:.2f}x{unit}"
    return "not predicted"


def _source(album: Album, file: str, line: int) -> str:
    lines = album.sources.get(file, ())
    return visible(shorten(lines[line - 1].strip(), 120)) if 0 < line <= len(lines) else ""


def text(value: str, report: Report, limit: int) -> str:
    """Words of a report on one line, with paths from the script's folder."""
    return visible(shorten(with_short_paths(value, report.run.folder), limit))
