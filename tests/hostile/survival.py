"""Everything that reads a run directory, run on one: a report comes, or one line that says why not."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

from tfperfkit.analysis.analyze import analyze
from tfperfkit.errors import TfperfError
from tfperfkit.export.command import export
from tfperfkit.model import Report
from tfperfkit.report.console import render
from tfperfkit.report.json import decode, encode
from tfperfkit.report.text import one_line
from tfperfkit.viewing.logdir import build

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ALLOWED = {"\n"}


def report_of(run: Path, scratch: Path) -> Report | None:
    """Analyse, render, encode, export and prepare for TensorBoard. None where there is no report: that is one line."""
    try:
        report = analyze(run)
    except TfperfError as error:
        harmless_line(str(error))
        report = None
    if report is not None:
        for color, width in ((False, 80), (True, 140)):
            page = io.StringIO()
            render(report, file=page, width=width, color=color)
            harmless(_COLOUR.sub("", page.getvalue()) if color else page.getvalue())
        text = encode(report)
        strict(text)
        harmless(text.decode())
        decode(text)
    for command in (
        lambda: export(str(run), "perfetto", str(scratch / "x.trace.json.gz")),
        lambda: build(scratch / "logs", [run]),
    ):
        try:
            command()
        except TfperfError as error:
            harmless_line(str(error))
    return report


def faults(report: Report) -> list[str]:
    """Return the exceptions that the report caught in a probe's analysis or in a rule, where none should arise."""
    reasons = [f"{probe.name}: {probe.reason}" for probe in report.probes]
    caught = [reason for reason in reasons if "while analysing" in reason or "no proper result" in reason]
    return caught + [note for note in report.notes if note.startswith("The rule")]


def harmless(text: str) -> None:
    """No character that moves the cursor, hides, or turns the direction of what follows."""
    bad = {char for char in set(text) - _ALLOWED if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert not bad, sorted(map(ascii, bad))


def harmless_line(text: str) -> None:
    """As it stands on the screen after ``tfperf:``, where ``cli.main`` prints it."""
    line = one_line(text)
    assert "\n" not in line
    harmless(line)
    assert len(line) < 2000


def strict(document: bytes) -> Any:
    """Valid for any reader: no NaN, no lone surrogate."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(document.decode("utf-8"), parse_constant=refuse)
