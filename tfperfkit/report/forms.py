"""The table of report formats for files and for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: Gives the code on a finding's page before and after its change, by code: (language, code) each.
Examples = Callable[[str], tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Form:
    """One report format.

    ``write`` gets the report and the examples of the pages. ``of_ranks`` says whether the report of all ranks has this
    format too.
    """

    write: Callable[[Any, Examples | None], bytes]
    of_ranks: bool = False


def _write_json(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.json import encode

    return encode(report)


def _write_html(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.html.render import no_examples, page

    return _encode_text(page(report, examples or no_examples))


def _write_markdown(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.markdown import report_markdown

    return _encode_text(report_markdown(report))


def _write_sarif(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.sarif import report_sarif

    return report_sarif(report)


def _write_for_agents(report: Any, examples: Examples | None) -> bytes:
    from tfperfkit.report.agents import agents

    return _encode_text(agents(report))


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


#: The formats by name; the text for the terminal is not among them.
FORMS: Mapping[str, Form] = {
    "json": Form(_write_json, of_ranks=True),
    "html": Form(_write_html, of_ranks=True),
    "markdown": Form(_write_markdown),
    "sarif": Form(_write_sarif),
    "agents": Form(_write_for_agents),
}
#: The values that ``--format`` takes.
CHOICES = ("text", *FORMS)
