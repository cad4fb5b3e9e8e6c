"""A report, or a part of one, as Markdown for a pull request or an issue. Text of scripts can't become markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tfperfkit.model import Finding, Report
from tfperfkit.report import numbers
from tfperfkit.report.annotation import below
from tfperfkit.report.summary import headline_parts
from tfperfkit.report.terminal import Screen
from tfperfkit.report.text import shorten, visible

#: What Markdown and HTML take for markup.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#$@!])")
_LIMIT = 1000


def report_markdown(report: Report, root: str = "") -> str:
    """The headline, the findings in a table, and each with its evidence and remedy."""
    screen = Screen(folder=report.run.folder)
    lines = [f"**{escaped(report.headline or 'tfperf')}**", ""]
    lines += [escaped(" · ".join(headline_parts(report, screen))), ""]
    return "\n".join(lines) + "\n" + findings_markdown((*report.findings, *report.headroom), root or report.run.folder)


def findings_markdown(findings: Sequence[Finding], root: str = "") -> str:
    """A table of findings, then each under its title; "" where there is none."""
    if not findings:
        return ""
    rows = [
        (
            code(each.code),
            each.severity,
            escaped(each.title),
            _place(each, root),
            numbers.alone(each.share_of_step, "share"),
            _gain(each),
        )
        for each in findings
    ]
    lines = table(("code", "severity", "finding", "at", "costs", "predicted gain"), rows)
    for each in findings:
        measured = ", ".join(f"{item.name} {numbers.alone(item.value, item.unit)}" for item in each.evidence)
        lines += ["", "<details>", f"<summary>{_html(f'{each.code}: {each.title}')}</summary>", ""]
        lines += [f"- at {', '.join(_span(span.file, span.line, root) for span in each.where) or 'no place'}"]
        lines += [f"- measured: {escaped(measured)}", f"- fix: {escaped(each.advice)}", "", "</details>"]
    return "\n".join(lines) + "\n"


def _gain(finding: Finding) -> str:
    if finding.predicted_speedup is not None:
        return numbers.speedup(finding.predicted_speedup)
    return f"at least {numbers.speedup(finding.at_least)}" if finding.at_least is not None else "–"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; its cells are Markdown already."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    return [*lines, *(f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows)]


def escaped(text: str) -> str:
    """Any text on one line, none of it markup; a link or a mention neither."""
    plain = visible(shorten(" ".join(text.split()), _LIMIT))
    return _SPECIAL.sub(r"\\\1", plain).replace("://", ":&#8203;//")


def code(text: str) -> str:
    """Text in a code span, whatever it holds."""
    plain = visible(shorten(" ".join(text.split()), _LIMIT)).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    space = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{space}{plain}{space}{fence}" if plain else ""


def _html(text: str) -> str:
    import html

    return html.escape(visible(shorten(" ".join(text.split()), _LIMIT)))


def _place(finding: Finding, root: str) -> str:
    return _span(finding.where[0].file, finding.where[0].line, root) if finding.where else ""


def _span(file: str, line: int, root: str) -> str:
    path = below(file, root)
    return code(f"{path}:{line}" if line > 0 else path)
