"""The forms in which a report is written for others than the person at the terminal: one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: The code of a finding's page before and after its change: (language, code) each.
Examples = Callable[[str], tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Form:
    """``write`` gets the report and the pages' examples. ``option``: what chooses it on the command line, where that is
    not ``--format NAME``. ``of_ranks``: whether the report of all ranks has it too."""

    write: Callable[[Any, Examples | None], bytes]
    option: str = ""
    of_ranks: bool = False


def _json(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.json import encode

    return encode(report)


def _html(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.html.render import no_examples, page

    return _encoded(page(report, examples or no_examples))


def _markdown(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.markdown import report_markdown

    return _encoded(report_markdown(report))


def _sarif(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.sarif import report_sarif

    return report_sarif(report)


def _agents(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.agents import agents

    return _encoded(agents(report))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


#: By name; what is not text for the terminal.
FORMS: Mapping[str, Form] = {
    "json": Form(_json, of_ranks=True),
    "html": Form(_html, of_ranks=True),
    "markdown": Form(_markdown),
    "sarif": Form(_sarif),
    "agents": Form(_agents, option="--for-agents"),
}
#: What ``--format`` takes.
CHOICES = ("text", *(name for name, form in FORMS.items() if not form.option))
