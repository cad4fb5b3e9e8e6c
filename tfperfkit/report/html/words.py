"""Texts and figures of a page: harmless, short, in the units that the console has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tfperfkit.model import Report, SourceSpan
from tfperfkit.records.parts import words_of
from tfperfkit.report import numbers
from tfperfkit.report.paths import CELL, short_path, with_short_paths
from tfperfkit.report.summary import ending
from tfperfkit.report.text import shorten, visible

_LONG = 4_000


def text(value: object, folder: str = "") -> str:
    """One line of a script's or of ours: control and direction characters written out, paths short, not endless."""
    return visible(with_short_paths(shorten(str(value), _LONG), folder))


def name(value: object) -> str:
    """Return a name as it is, its middle left out where it is endless."""
    return visible(shorten(str(value)))


def headline(report: Report) -> str:
    """Return the first line as a title: the letter that was made small inside of a sentence is a large one again."""
    said = report.headline.removeprefix("First: ")
    title = report.findings[0].title if report.findings else ""
    if len(title) > 1 and said[1:].startswith(title[1:]):
        said = title[0] + said[1:]
    return text(said, report.run.folder)


def conclusion(report: Report) -> list[str]:
    """Return the rest of the conclusion: the limit of the computing, how to look further, the time between steps."""
    known = report.conclusion
    parts = (known.limit, known.look, known.between, known.also) if known is not None else ()
    return [text(part, report.run.folder) for part in parts if part]


def label_part(part: str) -> str:
    """Return what a part of a step is called in a legend."""
    found = words_of(part)
    return name(found.label if found is not None else part)


def remarks_on(report: Report) -> list[str]:
    """Return remarks that a reader must know before any figure: how the run ended, causes of rough times, why it has no
    steps.
    """
    unseen = report.steps.note if not report.steps.count else ""
    said = (ending(report.run), *report.overhead.notes, unseen)
    return [text(note, report.run.folder) for note in said if note]


def place(span: SourceSpan, folder: str) -> str:
    """``train.py:57``"""
    path = short_path(span.file, folder)
    between = ", line " if CELL.fullmatch(path) else ":"
    return name(f"{path}{between}{span.line}" if span.line > 0 else path)


def figure(value: float | int | str | None, unit: str) -> str:
    """Return a number with its unit."""
    return visible(numbers.alone(value, unit))


def harmless(value: Any) -> Any:
    """Builtins whose every text is harmless and whose every number JSON knows."""
    if isinstance(value, str):
        return visible(shorten(value, _LONG))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(harmless(str(key))): harmless(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [harmless(item) for item in value]
    return value
