"""The accounts as bars that open into their lines: of the run, of the step, of the start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tfperfkit.model import Report, SourceSpan, StepSummary
from tfperfkit.records.parts import name_run_part
from tfperfkit.report import numbers
from tfperfkit.report.html.colors import color_of, paint_of, text_on
from tfperfkit.report.html.in_order import in_order
from tfperfkit.report.html.source import Sources
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import figure, label_part, name, place
from tfperfkit.report.work import name_account

#: A share that its part's words fit into, in a bar.
_ROOM = 0.11
#: One that the key of a bar names; the others are in the list that it opens into.
_LARGE = 0.01
_STARTED = {
    "the steps themselves": "warm-up steps",
    "compile and first runs": "compiling and first runs",
    "first steps": "slow first steps",
    "not sampled": "not known",
}
_LINES = 6

Lines = Mapping[Any, Sequence[tuple[SourceSpan, float]]]


def accounts(report: Report, rules: Rules, sources: Sources) -> list[dict[str, Any]]:
    """Those that the report has, the step's first."""
    album = report.album
    made = [
        _steps(report.steps, "A step", "step", report, album.part_lines if album is not None else {}, rules, sources)
    ]
    for number, item in enumerate(report.work, 1):
        kind = "Loop" if item.kind == "loop" else "Call"
        title = f"{kind} at {place(item.where, report.run.folder)}, {name_account(item)}"
        mean = " in the mean" if item.iterations else ""
        made.append(_steps(item.steps, title, f"work-{number}", report, {}, rules, sources, mean=mean))
    run = report.run_account
    if run is not None:
        lines = {part: [(row.where, row.seconds) for row in rows] for part, rows in run.lines.items()}
        labels = {part: name_run_part(part, run.parts_s) for part in run.parts_s}
        aside = f"{figure(run.total_s, 's')}, from its start to its end"
        made.append(_account("The whole run", "run", aside, run.parts_s, labels, "s", lines, rules, sources))
    warm = report.steps.warm_up
    if warm is not None:
        started = {part: _STARTED.get(part, part) for part in warm.parts_s}
        aside = f"{figure(warm.total_s, 's')}, from the start of the process to the first steady step"
        title = "Startup"
        drawn = _account(title, "start", aside, warm.parts_s, started, "s", {}, rules, sources)
        line = album.start if (album := report.album) is not None else None
        made.append(drawn if drawn is None or line is None else in_order(drawn, line, started, rules))
    return [item for item in made if item is not None]


def _steps(
    steps: StepSummary,
    title: str,
    key: str,
    report: Report,
    lines: Lines,
    rules: Rules,
    sources: Sources,
    *,
    mean: str = " in the mean",
) -> dict[str, Any] | None:
    parts = steps.breakdown_ms or {}
    words = {part: label_part(part) for part in parts}
    total = sum(value for value in parts.values() if math.isfinite(value))
    words_by = {"samples": "stack samples", **report.words}
    source = " and ".join(words_by.get(part, f"the {part} window") for part in steps.breakdown_window.split(" and "))
    aside = f"{figure(total, 'ms')}{mean}{f', by {source}' if steps.breakdown_window else ''}"
    return _account(title, key, aside, parts, words, "ms", lines, rules, sources)


def _account(
    title: str,
    key: str,
    aside: str,
    parts: Mapping[Any, float],
    labels: Mapping[Any, str],
    unit: str,
    lines: Lines,
    rules: Rules,
    sources: Sources,
) -> dict[str, Any] | None:
    known = sorted(
        ((part, value) for part, value in parts.items() if math.isfinite(value) and value > 0),
        key=lambda item: -item[1],
    )
    total = sum(value for _, value in known)
    if not total or not math.isfinite(total):
        return None
    rows = []
    for part, value in known:
        share = value / total
        color = color_of(part)
        shown = numbers.beside(value, total) if unit == "ms" else figure(value, unit)
        rows.append(
            {
                "label": name(labels[part]),
                "value": shown,
                "share": f"{share * 100:.1f} %",
                "grow": rules.grow(share),
                "color": rules.color(color),
                "percent": f"{share * 100:.2f}",
                "paint": paint_of(color),
                "ink": text_on(paint_of(color)),
                "fits": share >= _ROOM,
                "large": share >= _LARGE,
                "places": [
                    {
                        "place": place(span, sources.folder) + (f" ({name(span.function)})" if span.function else ""),
                        "code": sources.line(span),
                        "value": figure(taken, unit),
                    }
                    for span, taken in lines.get(part, ())[:_LINES]
                    if math.isfinite(taken) and taken > 0
                ],
            }
        )
    spoken = ", ".join(f"{row['label']} {row['share']}" for row in rows)
    return {"title": title, "key": key, "aside": name(aside), "rows": rows, "bar": rows, "ruler": [], "spoken": spoken}
