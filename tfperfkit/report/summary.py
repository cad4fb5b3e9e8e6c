"""Full account of a run's time, its windows, the cost of tfperf, and the versions."""

from __future__ import annotations

import math
import os
import shlex

from rich.text import Text

from tfperfkit.model import MIN_BETWEEN, Report, RunInfo, WindowSummary
from tfperfkit.report import numbers
from tfperfkit.report.account import account_lines
from tfperfkit.report.bar import breakdown
from tfperfkit.report.children import beside_the_run, beside_the_step
from tfperfkit.report.layout import joined, prose
from tfperfkit.report.paths import name, short_path, with_short_paths
from tfperfkit.report.run import run_lines
from tfperfkit.report.terminal import Screen
from tfperfkit.report.work import work_lines

_LABELLED = 10
#: From this mean on, as a multiple of the median, the mean is said too: half of the time is in few steps.
_FEW_TAKE_MUCH = 1.5
#: A probe's window against clean steps, below which it is chance that speaks.
_QUICKER = 0.8
_CLEAN = frozenset({"clean", "baseline"})
_WINDOWS = {"warmup": "warm-up"}
_WORDS = {"samples": "stack samples"}


def time_sections(report: Report, screen: Screen) -> list[Text]:
    """Return the step's figures, and where the time of a step, of work outside of steps and of the run goes."""
    lines = joined(headline_parts(report, screen), screen)
    steps = report.steps
    words = {**_WORDS, **report.words}
    lines += breakdown(steps, "mean step", words, screen) + run_lines(report.run_account, screen)
    if steps.count and steps.definition:
        lines += prose(f"a step is {with_short_paths(steps.definition, screen.folder)}", screen, style="dim")
    lines += account_lines(steps, screen)
    for text in (beside_the_step(report), beside_the_run(report)):
        lines += prose(text, screen)
    return lines + work_lines(report.work, words, screen) + prose(steps.note, screen, style="dim")


def nothing_recorded(report: Report) -> bool:
    """Return whether there is nothing to report on: no TensorFlow, and so no step and no probe that saw anything."""
    return (
        "tensorflow" not in report.run.versions
        and report.steps.count <= 0
        and not (report.findings or report.windows or report.steps.note)
        and all(probe.status == "skipped" and not probe.tables for probe in report.probes)
    )


def nothing_lines(report: Report, screen: Screen) -> list[Text]:
    """Return how the script ended, and why there is no report: a line each."""
    ran = f"after {numbers.alone(float(report.run.wall_s), 's')}" if report.run.wall_s > 0 else ""
    ended = ending(report.run).rstrip(".") or "The script ended"
    what = f": {name(shlex.join(report.run.argv), screen)}" if report.run.argv else "."
    text = f"{ended} {ran}".rstrip() + what
    lines = prose(text, screen, style="bold yellow" if ending(report.run) else "bold")
    for note in report.notes or ("Nothing was recorded.",):
        lines += prose(note, screen)
    return lines


def headline_parts(report: Report, screen: Screen) -> list[str]:
    """``40 steps``, ``512 ms a step (p90 540)``, ``250 examples/s``; without steps, how long the script ran.

    If a few steps take much of the time, also their mean: ``14.6 ms a step (p90 31.7, mean 309)``.
    """
    steps = report.steps
    wall = f"ran {numbers.alone(float(report.run.wall_s), 's')}" if report.run.wall_s > 0 else ""
    if steps.count <= 0:
        found = "no training steps" if report.work else "No training steps were found"
        return [part for part in (found, wall) if part]
    parts = [f"{numbers.plain(steps.count)} step{'s' * (steps.count != 1)}"]
    if _is_number(steps.median_ms):
        time, _, unit = numbers.alone(steps.median_ms, "ms", screen.symbols).partition(" ")
        text = f"{time} {unit} a step"
        beside = [("p90", steps.p90_ms)] if _is_number(steps.p90_ms) else []
        mean = steps.mean_ms
        if mean is not None and math.isfinite(mean) and mean >= _FEW_TAKE_MUCH * (steps.median_ms or 0.0):
            beside.append(("mean", mean))
        figures = []
        for word, value in beside:
            shown = numbers.alone(value, "ms", screen.symbols).removesuffix(f" {unit}")
            figures.append(f"{word} {shown}")
        text += f" ({', '.join(figures)})" if figures else ""
        parts.append(text)
        if steps.account is not None and steps.account.between_total_ms >= MIN_BETWEEN * steps.account.mean_ms > 0:
            parts.append(f"{numbers.alone(steps.account.between_total_ms, 'ms', screen.symbols)} between two")
    else:
        parts.append("time of a clean step not measured")
    if _is_number(steps.examples_per_s):
        parts.append(f"{numbers.alone(steps.examples_per_s, 'number')} examples/s")
    return parts


def _is_number(value: float | None) -> bool:
    """Return whether a value is known and finite."""
    return value is not None and math.isfinite(value)


def ending(run: RunInfo) -> str:
    """Return how the script ended, where it did not end well."""
    if run.watched:
        return {"failed": "The code failed.", "interrupted": "The code was interrupted."}.get(run.status, "")
    code = f"exit code {run.exit_code}" if run.exit_code is not None else "exit code unknown"
    if run.status in ("running", "unknown"):
        return ""  # a note says so
    if run.status != "finished":
        return f"The script was {run.status} ({code})." if run.status != "failed" else f"The script failed ({code})."
    return f"The script ended with {code}." if run.exit_code else ""


def bottom_lines(report: Report, screen: Screen) -> list[Text]:
    """Return the notes, which steps were in which window, what tfperf cost, what was run and where it is kept."""
    lines: list[Text] = []
    for note in (*report.overhead.notes, *report.notes):
        lines += prose(with_short_paths(note, screen.folder), screen, indent=_LABELLED, label="note")
    lines += joined(windows(report, screen), screen, indent=_LABELLED, label="windows")
    lines += joined(_cost(report, screen), screen, indent=_LABELLED, label="cost")
    lines += joined(_run(report.run, screen), screen, indent=_LABELLED, label="run")
    if report.run.directory:
        directory = report.run.directory.rstrip(os.sep) or os.sep
        lines += prose(name(short_path(directory), screen), screen, indent=_LABELLED, label="kept in")
    return lines


def windows(report: Report, screen: Screen) -> list[str]:
    """``warm-up 1-2``, ``lines 6-8``, ``trace skipped: too few steps``, ``clean otherwise (27 steps)``"""
    items = []
    if report.steps.warmup > 0 and not any(_WINDOWS.get(w.name, w.name) == "warm-up" for w in report.windows):
        items.append(f"warm-up {_steps(1, report.steps.warmup)}")
    stepped = report.steps.count > 0
    items += [_window(window, screen, stepped) for window in report.windows if window.name not in _CLEAN]
    if report.steps.count > 0:
        clean = report.steps.clean
        if clean > 0:
            items.append(f"clean{' otherwise' if items else ''} ({clean} step{'s' * (clean != 1)})")
        else:
            items.append("no clean steps")
    return items


def _window(window: WindowSummary, screen: Screen, stepped: bool) -> str:
    label = name(_WINDOWS.get(window.name, window.name), screen)
    reason = name(window.reason, screen)
    if window.status == "skipped":
        return f"{label} skipped" + (f": {reason}" if reason else "")
    where = _steps(window.first_step, window.steps) if window.steps > 0 else f"from step {window.first_step}"
    label = f"{label} {where}" if stepped or window.steps > 0 else label  # where there are none it is open by time
    if window.status == "cut":
        return f"{label} (cut{': ' + reason if reason else ''})"
    return label + (f" ({reason})" if reason else "")


def _steps(first: int, count: int) -> str:
    return f"{first}-{first + count - 1}" if count > 1 else str(first)


def _cost(report: Report, screen: Screen) -> list[str]:
    """Our hooks' share of the clean steps, and how much slower a step was in each probe's window."""
    overhead = report.overhead
    items = []
    ratio = overhead.baseline_ratio
    if ratio is not None and math.isfinite(ratio):
        # The ratio is (steps + hooks) / steps, so that what exceeds 1 is our share.
        share = max(ratio - 1, 0.0)
        shown = numbers.alone(share, "share") if share >= 0.0005 or share == 0 else "under 0.1 %"
        items.append(f"tfperf took {shown} of the clean steps")
    elif report.steps.count > 0:
        items.append("tfperf's share of the clean steps was not measured")
    probes = [
        f"{name(probe, screen)} {numbers.alone(value, 'ratio', screen.symbols)}"
        for probe, value in overhead.per_probe.items()
    ]
    if probes:
        items.append(f"slowdown while probes were active: {', '.join(probes)}")
    if any(value < _QUICKER for value in overhead.per_probe.values()):
        items.append(
            "step time varies more than the probes' own cost, so predicted gains are no more precise than that"
        )
    if overhead.by_python:
        items.append("hooks ran in pure Python (C extension not built; run tfperf doctor)")
    return items


def _run(run: RunInfo, screen: Screen) -> list[str]:
    items = [name(shlex.join(run.argv), screen)] if run.argv else []
    if run.wall_s > 0 and math.isfinite(run.wall_s):
        items.append(numbers.alone(float(run.wall_s), "s"))
    versions = [f"{name(what, screen)} {name(str(version), screen)}" for what, version in run.versions.items()]
    return items + versions
