"""The table of report formats for files and for other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: Returns the page of a finding's code in Markdown; "" if there is none.
Pages = Callable[[str], str]


@dataclass(frozen=True)
class Form:
    """One report format.

    ``write`` gets the report and the pages of findings. ``of_ranks`` says whether the report of all ranks has this
    format too.
    """

    write: Callable[[Any, Pages | None], bytes]
    of_ranks: bool = False


def _write_json(report: Any, pages: Pages | None) -> bytes:
    from tfperfkit.report.json import encode

    return encode(report)


def _write_html(report: Any, pages: Pages | None) -> bytes:
    from tfperfkit.report.html.explained import no_page
    from tfperfkit.report.html.render import page

    return _encode_text(page(report, pages or no_page))


def _write_markdown(report: Any, pages: Pages | None) -> bytes:
    from tfperfkit.report.markdown import report_markdown

    return _encode_text(report_markdown(report))


def _write_sarif(report: Any, pages: Pages | None) -> bytes:
    from tfperfkit.report.sarif import report_sarif

    return report_sarif(report)


def _write_for_agents(report: Any, pages: Pages | None) -> bytes:
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
