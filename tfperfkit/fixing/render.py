"""Patches on a terminal, or in a pipe, where ``git apply`` and ``patch`` take them as they are."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

import msgspec
from rich.text import Text

from tfperfkit.fixing.draft import Draft
from tfperfkit.fixing.files import Files
from tfperfkit.fixing.module import Module
from tfperfkit.fixing.patches import Patch, unified
from tfperfkit.model import Finding, Measured, Report
from tfperfkit.records.gains import finite
from tfperfkit.report import numbers
from tfperfkit.report.console import print_lines
from tfperfkit.report.findings import range_words
from tfperfkit.report.layout import prose
from tfperfkit.report.paths import name, with_short_paths
from tfperfkit.report.proof import measured_words, proof_words, shortfall
from tfperfkit.report.terminal import Screen, is_quiet, terminal_of
from tfperfkit.report.text import one_line, visible

_COLOR = {"+": "green", "-": "red", "@": "cyan"}


def show(
    patches: Sequence[Patch],
    files: Files,
    report: Report,
    file: TextIO,
    drafts: Mapping[str, Draft] | None = None,
    measured: Mapping[str, Measured] | None = None,
    wall_s: float | None = None,
) -> None:
    """Write the patches; ``drafts`` by the ids of patches that could not be made. ``measured``: what trials made of
    patches, by their ids; those that are not proven are then without their lines. ``wall_s``: of the run, if the
    trials timed whole runs. Raises what writing raises."""
    screen = msgspec.structs.replace(terminal_of(file), folder=report.run.folder)
    lines: list[Text] = [] if patches else [Text("No findings: nothing to fix.")]
    for number, patch in enumerate(patches):
        lines += [Text()] if number else []
        lines += _head(patch, screen, (drafts or {}).get(patch.identity), measured, wall_s)
        if measured is not None and shortfall(measured.get(patch.identity)):
            continue
        for path, before, after in patch.steps:
            encoding = files.module(path).tree.encoding
            diff = unified(_show_path(files, path), before, after, encoding)
            apart = patch.is_candidate and measured is None
            lines += _code(diff, screen) if apart else [_colored(line) for line in diff]
    _write(lines, file, screen)


def show_contents(after: Mapping[str, bytes], files: Files, file: TextIO, head: Sequence[str]) -> None:
    """Write the lines ``head``, and one patch of several files (file: content after it)."""
    lines = [Text(visible(line)) for line in head]
    for path, content in after.items():
        before = files.contents[path]
        diff = unified(_show_path(files, path), before, content, Module(path, before).tree.encoding)
        lines += [_colored(line) for line in diff]
    _write(lines, file, terminal_of(file))


def _write(lines: Sequence[Text], file: TextIO, screen: Screen) -> None:
    file.flush()
    if screen.color or file.isatty():
        safe = [Text.assemble((visible(line.plain.expandtabs(), unicode=screen.unicode), line.style)) for line in lines]
        print_lines([new if old.style else old for old, new in zip(lines, safe, strict=True)], file, screen)
    else:  # to the byte, carriage returns and tabs included
        text = "".join(line.plain + "\n" for line in lines)
        raw = getattr(file, "buffer", None)
        file.write(text) if raw is None else raw.write(text.encode("utf-8", "surrogateescape"))
    file.flush()


def tell(text: str) -> None:
    """Print a line on stderr, if the user wants notices: stdout holds the patches alone."""
    if not is_quiet():
        print(one_line(f"tfperf: {text}"), file=sys.stderr)


def _head(
    patch: Patch, screen: Screen, draft: Draft | None, measured: Mapping[str, Measured] | None, wall_s: float | None
) -> list[Text]:
    finding = patch.finding
    title = name(with_short_paths(finding.title, screen.folder), screen)
    lines = prose(f"{name(patch.identity, screen)}  {title}", screen, style="bold")
    item = (measured or {}).get(patch.identity)
    gains = gain(finding) if item is None else visible(compare_gains(finding, item, wall_s))
    lines += prose(f"gain: {gains}", screen, indent=2)
    if patch.fixer is not None:
        kind = "candidate, not proven" if patch.is_candidate and measured is None else "patch"
        lines += prose(f"{kind}: {patch.fixer.does}", screen, indent=2)
        for doubt in patch.assumed:
            lines += prose(name(with_short_paths(f"assumed: {doubt}", screen.folder), screen), screen, indent=2)
        if measured is not None:
            lines += prose(visible(_proof(patch, item), unicode=screen.unicode), screen, indent=2)
        return lines + (prose(f"note: {patch.fixer.note}", screen, indent=2) if patch.fixer.note else [])
    reason = f"no patch here: {patch.reason}" if patch.reason else "" if draft else "no mechanical fix is known"
    advice = visible(with_short_paths(finding.advice, screen.folder), unicode=screen.unicode)
    if reason:
        lines += prose(name(with_short_paths(reason, screen.folder), screen), screen, indent=2)
    return lines + (_draft(draft, advice, screen) if draft else prose(f"advice: {advice}", screen, indent=2))


def _proof(patch: Patch, item: Measured | None) -> str:
    if patch.fixer is not None and not patch.fixer.tried:
        return f"not proven: tfperf try RUN --only {patch.identity} finds the number that it needs"
    missing = shortfall(item)
    return f"not proven: {missing}" if missing or item is None else f"proven: {proof_words(item)}"


def _draft(draft: Draft, advice: str, screen: Screen) -> list[Text]:
    place = name(with_short_paths(draft.place, screen.folder), screen)
    lines = prose("draft: not a patch, --apply leaves it out", screen, indent=2)
    lines += prose(f"before, {place}:", screen, indent=4) + _code(draft.before, screen)
    lines += prose(f"change: {advice}", screen, indent=4)
    if draft.after:
        lines += prose("after, as a sketch:", screen, indent=4) + _code(draft.after, screen)
    if draft.example:
        lines += prose("after, in the example of its page:", screen, indent=4) + _code(draft.example, screen)
    return lines + prose(f"decide: {draft.decide}", screen, indent=4)


def _code(lines: Sequence[str], screen: Screen) -> list[Text]:
    """Code is indented, so that no tool takes it for a patch."""
    return [Text(f"      {visible(line.expandtabs(), unicode=screen.unicode)}".rstrip(), "dim") for line in lines]


def gain(finding: Finding) -> str:
    """Return the measured or the predicted gain, and say which."""
    measured = finding.measured
    predicted = predicted_words(finding)
    if measured is None or measured.speedup is None or not math.isfinite(measured.speedup):
        return f"{predicted}, not measured"
    low, high = measured.interval or (math.nan, math.nan)
    times = numbers.speedup(measured.speedup)
    if not math.isfinite(low + high):  # of one pair: it says nothing of how far another would be from it
        return visible(f"{predicted}; {times} in one pair of tfperf try ({measured.experiment}), which is no proof")
    none = ", no difference shown" if measured.verdict == "no difference" else ""
    interval = f"95 %: {numbers.speedup(low)} to {numbers.speedup(high)}{none}"
    return visible(f"measured {times} by tfperf try ({measured.experiment}, {interval})")


def compare_gains(finding: Finding, item: Measured, wall_s: float | None) -> str:
    """The predicted gain next to the measured one; of the whole run, of ``wall_s`` seconds, if that was timed."""
    if wall_s is None:
        return f"{predicted_words(finding)}; {measured_words(item)}"
    predicted = predicted_words(finding)
    if finding.saves_s is not None and 0 <= max(finding.saves_s) < wall_s:
        low, high = (numbers.speedup(wall_s / (wall_s - saved)) for saved in finding.saves_s)
        predicted = f"predicted {low} to {high}" if low != high else f"predicted {low}"
    return f"whole run {predicted}; {measured_words(item)}"


def predicted_words(finding: Finding) -> str:
    """``predicted 2.0x (1.5x to 3.0x)``"""
    gain = finite(finding.gain)
    if gain.likely is not None:
        return f"predicted {numbers.speedup(gain.likely)}{range_words(gain)}"
    if gain.low is not None:
        return f"predicted at least {numbers.speedup(gain.low)}"
    return "not predicted"


def _show_path(files: Files, file: str) -> str:
    """Return a path from the current folder if the file lies below it, so that ``git apply`` finds it there."""
    path = str(files.path(file))
    try:
        short = os.path.relpath(path)
    except (OSError, ValueError):
        return path.lstrip("/")
    return path.lstrip("/") if short.startswith("..") else short


def _colored(line: str) -> Text:
    bold = line.startswith(("--- ", "+++ "))
    return Text(line, "bold" if bold else _COLOR.get(line[:1], "none"))
